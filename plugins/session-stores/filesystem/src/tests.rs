//! The store as a whole: on a disk that fails at every step, and on the machine's own.

mod random;
mod faulty_disk;
mod samples;
mod trial;
mod crashes;
mod recovery;
mod damage;
mod places;
mod paging;
mod plugin;
