//! Lists of stages as people write them on the command line.

use std::fmt::Write as _;

use percale::response::Stage;

use crate::run::key_value;

/// `a,b{key=value,key=value}` as a TOML list of tables; nothing, or `none`, is an empty list.
pub(crate) fn stage_list(text: &str) -> Result<String, String> {
    let mut list: Vec<String> = Vec::new();
    let mut rest = text.trim();
    if rest == "none" {
        return Ok("[]".into());
    }
    while !rest.is_empty() {
        let end = rest.find([',', '{']).unwrap_or(rest.len());
        let name = rest[..end].trim();
        if Stage::named(name).is_none() {
            let known = Stage::NAMES.join(", ");
            return Err(format!(
                "no stage '{name}'; there are: {known}; or none at all: none"
            ));
        }
        let mut table = format!("kind = \"{name}\"");
        rest = &rest[end..];
        if let Some(inside) = rest.strip_prefix('{') {
            let (keys, after) = inside
                .split_once('}')
                .ok_or(format!("'{name}{{' has no closing brace"))?;
            for pair in keys.split(',').filter(|pair| !pair.trim().is_empty()) {
                let (key, value) = key_value(pair)?;
                let is_word = value.starts_with(|c: char| c.is_ascii_alphabetic())
                    && !["true", "false"].contains(&value.as_str());
                let quote = if is_word { "\"" } else { "" };
                let _ = write!(table, ", {key} = {quote}{value}{quote}");
            }
            rest = after.trim_start();
        }
        list.push(format!("{{ {table} }}"));
        rest = rest.strip_prefix(',').unwrap_or(rest).trim_start();
    }
    Ok(format!("[{}]", list.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read_as_people_write_them() {
        for (text, expected) in [
            ("none", "[]"),
            ("", "[]"),
            ("hold", r#"[{ kind = "hold" }]"#),
            (
                "impulses{max_rounds=16, form=notes} , hold",
                r#"[{ kind = "impulses", max_rounds = 16, form = "notes" }, { kind = "hold" }]"#,
            ),
        ] {
            assert_eq!(stage_list(text).unwrap(), expected);
        }
        for (text, word) in [
            ("holt", "'holt'"),
            ("hold,none", "'none'"),
            ("hold{a=1", "closing"),
        ] {
            let error = stage_list(text).unwrap_err();
            assert!(error.contains(word), "{text}: {error}");
        }
    }
}
