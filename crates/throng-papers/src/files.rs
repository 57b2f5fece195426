//! Files of results: read with a limit, and replaced in one step.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// Most bytes of a report. The longest in `results/` has a hundredth of that.
pub const REPORT_BYTES_MAX: u64 = 64 << 20;

/// Reads a text of at most `bytes_max` bytes. Endless files, such as `/dev/zero`, are not read
/// beyond that.
pub fn read_text(path: &Path, bytes_max: u64) -> io::Result<String> {
    let mut text = String::new();
    let length = File::open(path)?.take(bytes_max + 1).read_to_string(&mut text);
    // The limit may have cut a character in two. So the length is checked first.
    let is_long = match &length {
        Ok(length) => *length as u64 > bytes_max,
        Err(error) => {
            error.kind() == io::ErrorKind::InvalidData
                && fs::metadata(path).is_ok_and(|found| found.len() > bytes_max)
        }
    };
    if is_long {
        let why = format!("it is longer than {bytes_max} bytes");
        return Err(io::Error::new(io::ErrorKind::InvalidData, why));
    }
    length.map(|_| text)
}

/// Replaces the contents of a file. The new contents are first written to a file beside it. So the
/// file has all of the old contents or all of the new ones, also on a full disk.
///
/// A link stays a link, and its target is replaced. A special file (`/dev/null`, a pipe) is written
/// to.
pub fn write_whole(path: &Path, contents: impl AsRef<[u8]>) -> io::Result<()> {
    let contents = contents.as_ref();
    let Some(real) = replaceable(path) else { return fs::write(path, contents) };
    let beside = beside(&real);
    let written = create(&beside, contents).and_then(|()| {
        if let Ok(found) = fs::metadata(&real) {
            fs::set_permissions(&beside, found.permissions())?;
        }
        fs::rename(&beside, &real)
    });
    if written.is_err() {
        let _ = fs::remove_file(&beside);
    }
    match written {
        Err(error) if is_in_place_only(&error) && real.exists() => fs::write(&real, contents),
        written => written,
    }
}

/// Returns whether a file may be writable although it cannot be replaced: its folder is read-only,
/// or something is mounted on it.
fn is_in_place_only(error: &io::Error) -> bool {
    use io::ErrorKind::{PermissionDenied, ReadOnlyFilesystem, ResourceBusy};
    matches!(error.kind(), PermissionDenied | ReadOnlyFilesystem | ResourceBusy)
}

/// Checks that a file can be written by [`write_whole`], and leaves it as it is.
pub fn try_out(path: &Path) -> io::Result<()> {
    if path.exists() {
        // Anything that exists must be writable.
        OpenOptions::new().write(true).open(path)?;
    }
    let Some(real) = replaceable(path) else {
        if !path.exists() {
            // A link to a file that does not exist yet, or a new file below /dev.
            File::create(path)?;
            fs::remove_file(self::real(path))?;
        }
        return Ok(());
    };
    let beside = beside(&real);
    match create(&beside, &[]).and_then(|()| fs::remove_file(&beside)) {
        Err(error) if is_in_place_only(&error) && real.exists() => Ok(()),
        tried => tried,
    }
}

/// Returns the target of a path, if another file can replace it.
fn replaceable(path: &Path) -> Option<PathBuf> {
    // An open file of this process has a name there, but must not be replaced.
    if path.starts_with("/dev") || path.starts_with("/proc") {
        return None;
    }
    match fs::metadata(path) {
        Ok(found) => found.is_file().then(|| real(path)),
        // A link to a file that does not exist yet.
        Err(_) if path.is_symlink() => None,
        Err(_) => Some(path.to_owned()),
    }
}

/// Returns the path with links resolved, if it exists.
pub fn real(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

/// Returns a file name in the same folder, unique to this process.
pub fn beside(path: &Path) -> PathBuf {
    let mut name = std::ffi::OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(format!(".{}.new", std::process::id()));
    path.with_file_name(name)
}

fn create(path: &Path, contents: &[u8]) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(contents)?;
    // Some systems report a full disk only here.
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder that is removed at the end.
    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Self {
            let path = std::env::temp_dir().join(format!("throng-{}-{name}", std::process::id()));
            let _ = fs::remove_dir_all(&path);
            fs::create_dir_all(&path).unwrap();
            Folder(path)
        }

        fn names(&self) -> Vec<String> {
            let entries = fs::read_dir(&self.0).unwrap();
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn a_text_is_read_up_to_a_limit() {
        let folder = Folder::new("limit");
        let path = folder.0.join("text");
        // The last character has two bytes.
        fs::write(&path, "abcé").unwrap();
        assert_eq!(read_text(&path, 5).unwrap(), "abcé");
        for bytes_max in [4, 3] {
            let error = read_text(&path, bytes_max).unwrap_err();
            assert_eq!(error.to_string(), format!("it is longer than {bytes_max} bytes"));
        }
        fs::write(&path, b"\xFF").unwrap();
        assert!(read_text(&path, 5).unwrap_err().to_string().contains("UTF-8"));
        if cfg!(unix) {
            let error = read_text(Path::new("/dev/zero"), 1000).unwrap_err();
            assert_eq!(error.to_string(), "it is longer than 1000 bytes");
        }
    }

    #[test]
    fn a_file_is_replaced_whole() {
        let folder = Folder::new("whole");
        let path = folder.0.join("page.html");
        try_out(&path).unwrap();
        assert!(folder.names().is_empty(), "trying out leaves nothing");
        write_whole(&path, "old").unwrap();
        write_whole(&path, "new").unwrap();
        try_out(&path).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(folder.names(), ["page.html"]);
        assert!(write_whole(&folder.0.join("no/such"), "new").is_err());
        assert!(try_out(&folder.0.join("no/such")).is_err());
        assert!(write_whole(&folder.0, "new").is_err(), "it is a folder");
    }

    #[cfg(unix)]
    #[test]
    fn links_and_modes_stay_and_devices_are_written_to() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = Folder::new("links");
        let (file, link) = (folder.0.join("file"), folder.0.join("link"));
        fs::write(&file, "old").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
        symlink("file", &link).unwrap();
        write_whole(&link, "new").unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "new");
        assert!(link.is_symlink());
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o640);
        write_whole(Path::new("/dev/null"), "new").unwrap();
        try_out(Path::new("/dev/null")).unwrap();
        assert!(try_out(Path::new("/dev/null/nowhere")).is_err());
        let ahead = folder.0.join("ahead");
        symlink("later", &ahead).unwrap();
        try_out(&ahead).unwrap();
        assert!(ahead.is_symlink() && !ahead.exists(), "trying out leaves nothing");
    }

    /// Sets a limit on file sizes, which fails in the middle of writing, as a full disk does.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_file_that_cannot_be_written_whole_stays_as_it_was() {
        use std::process::Command;
        const VARIABLE: &str = "THRONG_TEST_OF_FULL_DISK";
        let long = "x".repeat(1 << 20);
        if let Ok(folder) = std::env::var(VARIABLE) {
            let folder = Path::new(&folder);
            assert!(write_whole(&folder.join("old"), &long).is_err());
            assert!(write_whole(&folder.join("none"), &long).is_err());
            return;
        }
        let folder = Folder::new("full");
        fs::write(folder.0.join("old"), "old").unwrap();
        let name = "files::tests::a_file_that_cannot_be_written_whole_stays_as_it_was";
        // In blocks of 512 or 1024 bytes; the signal is ignored, so that the call fails.
        let script = "trap '' XFSZ; ulimit -f 64; exec \"$0\" --exact \"$1\"";
        let run = Command::new("sh")
            .args(["-c", script])
            .arg(std::env::current_exe().unwrap())
            .arg(name)
            .env(VARIABLE, &folder.0)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&run.stdout);
        assert!(run.status.success() && said.contains("1 passed"), "{said}");
        assert_eq!(fs::read_to_string(folder.0.join("old")).unwrap(), "old");
        assert_eq!(folder.names(), ["old"]);
    }
}
