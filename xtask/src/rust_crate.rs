//! The modules of a crate, parsed: what each declares, and which paths it mentions.

use std::collections::BTreeMap;

use proc_macro2::{TokenStream, TokenTree};
use syn::spanned::Spanned as _;
use syn::visit::{self, Visit};

use crate::tree::Tree;

/// The path of a module below the root of its crate; empty for `lib.rs`.
pub(crate) type ModulePath = Vec<String>;

/// One crate without its tests.
#[derive(Debug, Default)]
pub(crate) struct Crate {
    modules: BTreeMap<ModulePath, Module>,
}

/// One module without its tests.
#[derive(Debug, Default)]
pub(crate) struct Module {
    /// The file it is written in.
    pub(crate) file: String,
    /// The modules it declares, in their order.
    pub(crate) children: Vec<String>,
    /// The types and traits it defines.
    pub(crate) types: Vec<Named>,
    /// The types it has an `impl` block for that is not one of a trait: the path as written.
    pub(crate) inherent: Vec<Mention>,
    /// Every path it mentions that begins with `crate`, `super` or `self`, from the crate root.
    pub(crate) mentions: Vec<Mention>,
    /// What its `use` items bring in: the local name, and the path from the crate root.
    pub(crate) imports: BTreeMap<String, ModulePath>,
}

/// A name and where it is defined.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Named {
    pub(crate) name: String,
    pub(crate) line: usize,
}

/// A path and where it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mention {
    pub(crate) path: ModulePath,
    pub(crate) line: usize,
}

impl Crate {
    /// Parses the crate in `dir`. A file that does not parse is given as the error: its name and why.
    pub(crate) fn read(tree: &Tree, dir: &str) -> Result<Self, (String, String)> {
        let root = ["lib.rs", "main.rs"]
            .map(|file| format!("{dir}/src/{file}"))
            .into_iter()
            .find(|file| tree.has(file))
            .ok_or_else(|| {
                (
                    format!("{dir}/src/lib.rs"),
                    "the file is missing".to_owned(),
                )
            })?;
        let mut parsed = Self::default();
        parsed.add_file(tree, &root, &format!("{dir}/src"), Vec::new())?;
        Ok(parsed)
    }

    /// The modules, by path.
    pub(crate) fn modules(&self) -> impl Iterator<Item = (&ModulePath, &Module)> {
        self.modules.iter()
    }

    /// The module with this path.
    pub(crate) fn module(&self, path: &[String]) -> Option<&Module> {
        self.modules.get(path)
    }

    fn add_file(
        &mut self,
        tree: &Tree,
        file: &str,
        folder: &str,
        path: ModulePath,
    ) -> Result<(), (String, String)> {
        let text = tree.text(file).unwrap_or_default();
        let parsed = syn::parse_file(text);
        let parsed = parsed.map_err(|error| (file.to_owned(), error.to_string()))?;
        self.add(tree, file, folder, path, &parsed.items)
    }

    fn add(
        &mut self,
        tree: &Tree,
        file: &str,
        folder: &str,
        path: ModulePath,
        items: &[syn::Item],
    ) -> Result<(), (String, String)> {
        let mut reader = Reader {
            here: path.clone(),
            module: Module {
                file: file.to_owned(),
                ..Module::default()
            },
        };
        let mut inner = Vec::new();
        for item in items.iter().filter(|item| !is_test(attributes(item))) {
            match item {
                syn::Item::Mod(child) => {
                    reader.module.children.push(child.ident.to_string());
                    inner.push(child);
                }
                item => reader.visit_item(item),
            }
        }
        self.modules.insert(path.clone(), reader.module);
        for child in inner {
            let name = child.ident.to_string();
            let below = format!("{folder}/{name}");
            let path = [path.as_slice(), &[name]].concat();
            match &child.content {
                Some((_, items)) => self.add(tree, file, &below, path, items)?,
                None if tree.has(&format!("{below}.rs")) => {
                    self.add_file(tree, &format!("{below}.rs"), &below, path)?;
                }
                // A module that is generated while building has no file to read.
                None => {}
            }
        }
        Ok(())
    }
}

/// Collects what one module says.
struct Reader {
    here: ModulePath,
    module: Module,
}

impl Reader {
    fn define(&mut self, name: &syn::Ident) {
        self.module.types.push(Named {
            name: name.to_string(),
            line: line_of(name.span()),
        });
    }

    fn mention(&mut self, segments: &[String], line: usize) {
        if let Some(path) = from_root(&self.here, segments) {
            self.module.mentions.push(Mention { path, line });
        }
    }

    fn import(&mut self, tree: &syn::UseTree, before: &mut Vec<String>) {
        match tree {
            syn::UseTree::Path(path) => {
                before.push(path.ident.to_string());
                self.import(&path.tree, before);
                before.pop();
            }
            syn::UseTree::Group(group) => {
                for tree in &group.items {
                    self.import(tree, before);
                }
            }
            syn::UseTree::Name(name) => self.imported(before, &name.ident, &name.ident),
            syn::UseTree::Rename(rename) => self.imported(before, &rename.ident, &rename.rename),
            syn::UseTree::Glob(glob) => {
                self.mention(before, line_of(glob.star_token.spans[0]));
            }
        }
    }

    fn imported(&mut self, before: &[String], name: &syn::Ident, local: &syn::Ident) {
        let mut segments = before.to_vec();
        if name != "self" {
            segments.push(name.to_string());
        }
        self.mention(&segments, line_of(name.span()));
        if let Some(path) = from_root(&self.here, &segments) {
            let local = if local == "self" {
                before.last().cloned().unwrap_or_default()
            } else {
                local.to_string()
            };
            self.module.imports.insert(local, path);
        }
    }

    /// The paths in the body of a macro, which is not parsed.
    fn tokens(&mut self, tokens: TokenStream) {
        let mut path: Vec<String> = Vec::new();
        let mut line = 0;
        let mut colons = 0;
        for token in tokens {
            match token {
                TokenTree::Ident(ident) => {
                    if colons != 2 {
                        self.mention(&std::mem::take(&mut path), line);
                        line = line_of(ident.span());
                    }
                    path.push(ident.to_string());
                    colons = 0;
                }
                TokenTree::Punct(punct) if punct.as_char() == ':' => colons += 1,
                TokenTree::Group(group) => {
                    self.mention(&std::mem::take(&mut path), line);
                    colons = 0;
                    self.tokens(group.stream());
                }
                TokenTree::Punct(_) | TokenTree::Literal(_) => {
                    self.mention(&std::mem::take(&mut path), line);
                    colons = 0;
                }
            }
        }
        self.mention(&path, line);
    }
}

impl<'ast> Visit<'ast> for Reader {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        if !is_test(attributes(item)) {
            visit::visit_item(self, item);
        }
    }

    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        self.define(&item.ident);
        visit::visit_item_struct(self, item);
    }

    fn visit_item_enum(&mut self, item: &'ast syn::ItemEnum) {
        self.define(&item.ident);
        visit::visit_item_enum(self, item);
    }

    fn visit_item_trait(&mut self, item: &'ast syn::ItemTrait) {
        self.define(&item.ident);
        visit::visit_item_trait(self, item);
    }

    fn visit_item_type(&mut self, item: &'ast syn::ItemType) {
        self.define(&item.ident);
        visit::visit_item_type(self, item);
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        if item.trait_.is_none()
            && let syn::Type::Path(of) = &*item.self_ty
        {
            self.module.inherent.push(Mention {
                path: segments(&of.path),
                line: line_of(item.self_ty.span()),
            });
        }
        visit::visit_item_impl(self, item);
    }

    fn visit_impl_item(&mut self, item: &'ast syn::ImplItem) {
        let attributes = match item {
            syn::ImplItem::Fn(item) => &item.attrs[..],
            syn::ImplItem::Const(item) => &item.attrs[..],
            _ => &[],
        };
        if !is_test(attributes) {
            visit::visit_impl_item(self, item);
        }
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        self.import(&item.tree, &mut Vec::new());
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        self.mention(&segments(path), line_of(path.span()));
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, item: &'ast syn::Macro) {
        self.tokens(item.tokens.clone());
        visit::visit_macro(self, item);
    }

    // `pub(in path)` and `pub(super)` say who may look in, and use nothing.
    fn visit_visibility(&mut self, _: &'ast syn::Visibility) {}
}

/// A path from the crate root; nothing for a path that does not begin with `crate`, `super` or `self`.
fn from_root(here: &[String], segments: &[String]) -> Option<ModulePath> {
    let supers = segments.iter().take_while(|word| *word == "super").count();
    let first = segments.first()?;
    match first.as_str() {
        "crate" => Some(segments[1..].to_vec()),
        "self" => Some([here, &segments[1..]].concat()),
        "super" => {
            let above = here.len().checked_sub(supers)?;
            Some([&here[..above], &segments[supers..]].concat())
        }
        _ => None,
    }
}

fn segments(path: &syn::Path) -> Vec<String> {
    let segments = path.segments.iter();
    segments.map(|segment| segment.ident.to_string()).collect()
}

fn line_of(span: proc_macro2::Span) -> usize {
    span.start().line
}

fn attributes(item: &syn::Item) -> &[syn::Attribute] {
    match item {
        syn::Item::Const(item) => &item.attrs,
        syn::Item::Enum(item) => &item.attrs,
        syn::Item::Fn(item) => &item.attrs,
        syn::Item::Impl(item) => &item.attrs,
        syn::Item::Macro(item) => &item.attrs,
        syn::Item::Mod(item) => &item.attrs,
        syn::Item::Static(item) => &item.attrs,
        syn::Item::Struct(item) => &item.attrs,
        syn::Item::Trait(item) => &item.attrs,
        syn::Item::Type(item) => &item.attrs,
        syn::Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

/// Whether an item exists in tests only.
fn is_test(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let syn::Meta::List(list) = &attribute.meta else {
            return false;
        };
        if !list.path.is_ident("cfg") {
            return false;
        }
        let words = list.tokens.to_string();
        let has = |word: &str| {
            let mut words = words.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
            words.any(|part| part == word)
        };
        has("test") && !has("not") && !has("any")
    })
}
