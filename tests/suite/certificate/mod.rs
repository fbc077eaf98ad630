//! Nobody gets a certificate for a motion that meets something: not by a mistake of ours, not by safe code of others.

mod attacks;
mod judge;
mod proofs;
mod tangles;
