//! Which MCP servers are set up here, and which of them may be started.
//! It reads settings and starts nothing.

use std::path::{Path, PathBuf};

use toolcall_policy::{Project, Trust, TrustStore, UserDirs, read_own};
use toolcall_tools::mcp::{ServerSettings, parse_settings};

/// The file of a project that names servers.
const OF_PROJECT: &str = ".mcp.json";

/// What is set up, and what is wrong with it.
#[derive(Clone, Debug, Default)]
pub struct ConfiguredServers {
    /// The servers, the person's own first.
    pub servers: Vec<ConfiguredServer>,
    /// Files that cannot be used, and why.
    pub problems: Vec<String>,
}

/// A server, and who set it up.
#[derive(Clone, Debug)]
pub struct ConfiguredServer {
    /// The server.
    pub settings: ServerSettings,
    /// The file that names it.
    pub file: PathBuf,
    /// Whether it may be started.
    pub standing: ServerTrust,
}

/// Whether a server may be started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServerTrust {
    /// It may.
    Usable,
    /// The project names it, and nobody has trusted that.
    Untrusted,
    /// The person has one of the same name.
    Hidden,
}

impl ConfiguredServers {
    /// Reads the person's settings and the project's.
    pub fn read(places: &UserDirs, cwd: &Path) -> Self {
        let mut found = Self::default();
        found.read_own(&own_file(places));
        found.read_project(places, cwd);
        found
    }

    /// Those that may be started.
    pub fn usable(&self) -> Vec<ServerSettings> {
        let usable = self
            .servers
            .iter()
            .filter(|known| known.standing == ServerTrust::Usable);
        usable.map(|known| known.settings.clone()).collect()
    }

    /// What a person should know before tools are used.
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
            // What is wrong with its policy is told by whoever judges by it.
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
                standing: match is_taken {
                    true => ServerTrust::Hidden,
                    false => standing,
                },
            });
        }
    }

    fn problem(&mut self, file: &Path, why: &str) {
        let problem = format!("the servers of `{}` are left out: {why}", file.display());
        self.problems.push(problem);
    }
}

/// Where a person's own servers are kept.
pub fn own_file(places: &UserDirs) -> PathBuf {
    places.config.join("mcp.json")
}
