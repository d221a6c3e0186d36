//! The configured MCP servers, and which of them may be started.
//! It reads configuration files and starts nothing.

use std::path::{Path, PathBuf};

use toolcall_policy::{Project, Trust, TrustStore, UserDirs, read_own};
use toolcall_tools::mcp::{ServerSettings, parse_settings};

/// The project file that configures servers.
const OF_PROJECT: &str = ".mcp.json";

/// The configured servers, and the configuration files that cannot be used.
#[derive(Clone, Debug, Default)]
pub struct ConfiguredServers {
    /// The servers, the user's own first.
    pub servers: Vec<ConfiguredServer>,
    /// The files that cannot be used, and why.
    pub problems: Vec<String>,
}

/// A server and the file that configures it.
#[derive(Clone, Debug)]
pub struct ConfiguredServer {
    /// The server.
    pub settings: ServerSettings,
    /// The file that configures it.
    pub file: PathBuf,
    /// Whether it may be started.
    pub standing: ServerTrust,
}

/// Whether a server may be started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServerTrust {
    /// It may be started.
    Usable,
    /// The project configures it, and the user has not trusted the project.
    Untrusted,
    /// The user has a server of the same name.
    Hidden,
}

impl ConfiguredServers {
    /// Reads the user's and the project's configuration.
    pub fn read(places: &UserDirs, cwd: &Path) -> Self {
        let mut found = Self::default();
        found.read_own(&user_servers_file(places));
        found.read_project(places, cwd);
        found
    }

    /// Returns the servers that may be started.
    pub fn usable(&self) -> Vec<ServerSettings> {
        let usable = self
            .servers
            .iter()
            .filter(|known| known.standing == ServerTrust::Usable);
        usable.map(|known| known.settings.clone()).collect()
    }

    /// Returns what the user should know before tools are used.
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings = self.problems.clone();
        let is_untrusted = |known: &&ConfiguredServer| known.standing == ServerTrust::Untrusted;
        let untrusted = self.servers.iter().filter(is_untrusted).count();
        if untrusted > 0 {
            warnings.push(format!(
                "`{OF_PROJECT}` of this project is not trusted, so its servers are not started; look at it with `toolcall trust`"
            ));
        }
        warnings
    }

    fn read_own(&mut self, file: &Path) {
        match read_own(file) {
            Ok(Some(text)) => self.add(&text, file, ServerTrust::Usable),
            Ok(None) => {}
            Err(error) => self.problem(file, &error.to_string()),
        }
    }

    fn read_project(&mut self, places: &UserDirs, cwd: &Path) {
        let file = cwd.join(OF_PROJECT);
        let project = match Project::read(cwd) {
            Ok(project) => project,
            // A broken policy is reported by the policy store.
            Err(_) => return,
        };
        let Some(named) = project.files.iter().find(|file| file.name == OF_PROJECT) else {
            return;
        };
        let trusts = TrustStore::new(places);
        let standing = match trusts.trust_in(cwd, OF_PROJECT, &named.text) {
            Ok(Trust::Trusted) => ServerTrust::Usable,
            Ok(Trust::Untrusted) | Err(_) => ServerTrust::Untrusted,
        };
        self.add(&named.text, &file, standing);
    }

    fn add(&mut self, text: &str, file: &Path, standing: ServerTrust) {
        let parsed = match parse_settings(text) {
            Ok(parsed) => parsed,
            Err(error) => return self.problem(file, &error.to_string()),
        };
        for settings in parsed {
            let is_taken = self
                .servers
                .iter()
                .any(|known| known.settings.name == settings.name);
            self.servers.push(ConfiguredServer {
                settings,
                file: file.to_owned(),
                standing: if is_taken {
                    ServerTrust::Hidden
                } else {
                    standing
                },
            });
        }
    }

    fn problem(&mut self, file: &Path, why: &str) {
        let problem = format!("the servers of `{}` are left out: {why}", file.display());
        self.problems.push(problem);
    }
}

/// Returns the file that configures the user's own servers.
pub fn user_servers_file(places: &UserDirs) -> PathBuf {
    places.config.join("mcp.json")
}
