# For the scripts `miri` and `targets`, which read it: the tests of small.rs, and the library's unit tests, as packages of
# their own.
# shellcheck shell=bash

# Makes the package in this folder. It depends on throng alone: the crates that other tests use need not be built for
# every target, nor be fetched.
make_small_package() {
    local folder=$1 throng=$PWD/crates/throng
    mkdir -p "$folder"
    cat >"$folder/Cargo.toml" <<EOT
[package]
name = "small"
version = "0.0.0"
edition = "2024"
publish = false

[workspace]

[lib]
path = "$throng/tests/wasm/lib.rs"
test = false
doctest = false

[[test]]
name = "small"
path = "$throng/tests/small.rs"

[dependencies]
throng = { path = "$throng" }

[profile.dev]
opt-level = 1
debug = "line-tables-only"
EOT
}

# Makes a package in this folder that has the library's unit tests, and needs what they use and no more.
make_unit_package() {
    local folder=$1 throng=$PWD/crates/throng
    mkdir -p "$folder"
    cat >"$folder/Cargo.toml" <<EOT
[package]
name = "throng"
version = "0.0.0"
edition = "2024"
publish = false

[workspace]

[lib]
path = "$throng/src/lib.rs"
doctest = false

[features]
default = ["std"]
std = []

[dev-dependencies]
$(grep '^proptest = ' Cargo.toml)

[profile.dev]
opt-level = 1
debug = "line-tables-only"
EOT
}
