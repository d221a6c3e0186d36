//! Rules through the public API: errors, offers, modes, protected paths, explanations, algebra.
//! Nothing is run and no file is opened but the documentation.

mod algebra;
mod disguises;
mod documents;
mod errors;
mod explanations;
mod fixture;
mod modes;
mod offers;
mod protection;
mod switching;
