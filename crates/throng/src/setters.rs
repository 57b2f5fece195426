//! Setters for `#[non_exhaustive]` structs, which other crates cannot build by a literal.

/// Declares a setter for each field. The setter has the name of the field, takes the struct and returns it with the
/// new value.
///
/// A `const fn` cannot replace a value that has a destructor. For such a field write `fn` without `const`.
macro_rules! setters {
    (const fn $($field:ident: $type:ty),+) => {
        $(
            #[doc = concat!("Sets the field [`", stringify!($field), "`](field@Self::", stringify!($field), ").")]
            #[must_use]
            pub const fn $field(mut self, $field: $type) -> Self {
                self.$field = $field;
                self
            }
        )+
    };
    (fn $field:ident: $type:ty) => {
        #[doc = concat!("Sets the field [`", stringify!($field), "`](field@Self::", stringify!($field), ").")]
        #[must_use]
        pub fn $field(mut self, $field: $type) -> Self {
            self.$field = $field;
            self
        }
    };
}

pub(crate) use setters;
