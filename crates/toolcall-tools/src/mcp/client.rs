//! What we are to a server: its client, which tells the roots and declines what it does not do.
//! It never lets a server use a model, and never answers for the person.

// Roots and logging are going out of the protocol; servers of today still use them.
#![allow(deprecated)]

use std::path::PathBuf;
use std::sync::Arc;

use rmcp::model::{
    ClientCapabilities, ClientConfig, CreateMessageRequestParams, CreateMessageResult,
    ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationCapability, ErrorData,
    FormElicitationCapability, Implementation, ListRootsResult, LoggingMessageNotificationParam,
    ProgressNotificationParam, ProtocolVersion, Root, RootsCapabilities,
};
use rmcp::service::{NotificationContext, RequestContext};
use rmcp::{ClientHandler, RoleClient};
use serde::Serialize;
use serde_json::Value;
use url::Url;

use super::form::elicit;
use super::notifications::Notifications;

/// The client of one connection.
pub(super) struct Client {
    /// What people know the server by.
    pub(super) server: Arc<str>,
    pub(super) ears: Arc<Notifications>,
    pub(super) roots: Arc<[PathBuf]>,
}

impl Client {
    pub(super) fn ears(&self) -> &Arc<Notifications> {
        &self.ears
    }

    pub(super) fn roots(&self) -> ListRootsResult {
        let root = |path: &PathBuf| {
            let name = path
                .file_name()
                .map(|name| name.to_string_lossy().into_owned());
            let root = Root::new(Url::from_directory_path(path).ok()?);
            Some(name.into_iter().fold(root, Root::with_name))
        };
        ListRootsResult::new(self.roots.iter().filter_map(root).collect())
    }

    /// What comes by a transport that is not ours is put back into the words it came in.
    fn hear(&self, method: &str, params: &impl Serialize) {
        let params = serde_json::to_value(params).unwrap_or(Value::Null);
        self.ears.hear(method, &params);
    }
}

impl ClientHandler for Client {
    fn get_info(&self) -> ClientConfig {
        let mut capabilities = ClientCapabilities::default();
        capabilities.roots = Some(RootsCapabilities::default());
        let form = FormElicitationCapability::default();
        capabilities.elicitation = Some(ElicitationCapability::new().with_form(form));
        let own = Implementation::new("toolcall", env!("CARGO_PKG_VERSION"));
        ClientConfig::new(capabilities, own)
            .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE)
    }

    async fn list_roots(
        &self,
        _context: RequestContext<RoleClient>,
    ) -> Result<ListRootsResult, ErrorData> {
        Ok(self.roots())
    }

    async fn create_message(
        &self,
        _params: CreateMessageRequestParams,
        _context: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        Err(ErrorData::invalid_request("sampling is refused", None))
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        // It does not say for which of its calls it asks; without any there is nobody to ask.
        Ok(match self.ears.latest() {
            Some(scope) => elicit(&self.server, request, &scope).await,
            None => ElicitResult::new(ElicitationAction::Decline),
        })
    }

    async fn on_progress(
        &self,
        params: ProgressNotificationParam,
        _context: NotificationContext<RoleClient>,
    ) {
        self.hear("notifications/progress", &params);
    }

    async fn on_logging_message(
        &self,
        params: LoggingMessageNotificationParam,
        _context: NotificationContext<RoleClient>,
    ) {
        self.hear("notifications/message", &params);
    }

    async fn on_tool_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.ears.hear_change();
    }
}
