//! Libraries changed at random: read or refused, and never a panic.

use stud_abi::library::Image;
use stud_abi::section::manifest_text;
use stud_contract_meta::strict_json;
use stud_tests::{Elf, World, fixture};

/// Numbers that look random and are the same every time.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 16).unwrap_or(0) % sides
    }
}

fn read(bytes: &[u8]) -> bool {
    let Ok(image) = Image::parse(bytes) else {
        return false;
    };
    image.exports("stud_entry_hostile");
    manifest_text(image.section()).is_ok_and(|text| strict_json::parse(text).is_ok())
}

#[test]
fn the_reader_bears_any_byte_anywhere() {
    let mut library = Elf::read(&fixture("hostile")).bytes;
    assert!(read(&library));
    let len = library.len();
    let table = usize::try_from(u64::from_le_bytes(library[40..48].try_into().unwrap())).unwrap();
    let mut dice = Dice(0x5eed);
    let mut refused = 0;
    for _ in 0..4_000 {
        // Headers at the start and at the end decide everything, so most throws go there.
        let (start, width) = match dice.roll(4) {
            0 => (0, 64),
            1 => (64, 1024),
            2 => (table, len - table),
            _ => (0, len),
        };
        let changes: Vec<(usize, u8)> = (0..=dice.roll(4))
            .map(|_| {
                (
                    start + dice.roll(width),
                    u8::try_from(dice.roll(256)).unwrap_or(0),
                )
            })
            .collect();
        let saved: Vec<u8> = changes.iter().map(|(at, _)| library[*at]).collect();
        for (at, byte) in &changes {
            library[*at] = *byte;
        }
        refused += u32::from(!read(&library));
        for ((at, _), byte) in changes.iter().zip(&saved).rev() {
            library[*at] = *byte;
        }
    }
    assert!(refused > 100, "the throws must hit something: {refused}");
    assert!(read(&library), "every change was taken back");
}

#[test]
fn the_reader_bears_any_length() {
    let library = Elf::read(&fixture("hostile")).bytes;
    let mut dice = Dice(0xcafe);
    for len in (0..128).chain((0..300).map(|_| dice.roll(library.len()))) {
        assert!(
            !read(&library[..len]),
            "cut to {len} bytes it must be refused"
        );
    }
}

#[test]
fn a_manifest_changed_at_random_is_refused_or_loaded_and_nothing_else() {
    let original = Elf::read(&fixture("hostile"));
    let section = original.section();
    let mut dice = Dice(0xbeef);
    let world = World::new();
    for index in 0..60 {
        let mut changed = section.clone();
        let at = 16 + dice.roll(section.len() - 16);
        changed[at] = u8::try_from(32 + dice.roll(95)).unwrap_or(b' ');
        world.write(
            format!("home/ui/p{index}/libp.so"),
            original.clone().with_section(&changed).bytes,
        );
    }
    let answer = world.stud(&["plugin", "list", "--json"]);
    assert_eq!(answer.status, 0, "{answer:?}");
    let plugins = answer.json()["plugins"].clone();
    let installed = plugins.as_array().unwrap().iter();
    // Some of those that the program carries are disabled.
    for plugin in installed.filter(|plugin| plugin["scope"] != "bundled") {
        let refused =
            plugin["status"] == "disabled" && plugin["diagnostics"][0]["code"].is_string();
        assert!(refused || plugin["status"] == "active", "{plugin:#}");
    }
}
