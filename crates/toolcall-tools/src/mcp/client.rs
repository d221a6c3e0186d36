//! Our side of a connection as rmcp sees it: lists the roots, carries forms to the user, declines everything else.
//! It never lets a server use a model, and never answers for the user.

// The protocol deprecates roots and logging, but current servers still use them.
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
pub(super) struct McpClient {
    /// The name of the server in the settings.
    pub(super) server: Arc<str>,
    pub(super) notifications: Arc<Notifications>,
    pub(super) roots: Arc<[PathBuf]>,
}

impl McpClient {
    pub(super) fn notifications(&self) -> &Arc<Notifications> {
        &self.notifications
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

    /// Passes on a notification that rmcp's HTTP transport has already decoded, as JSON.
    fn forward(&self, method: &str, params: &impl Serialize) {
        let params = serde_json::to_value(params).unwrap_or(Value::Null);
        self.notifications.receive(method, &params);
    }
}

impl ClientHandler for McpClient {
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
        // The request does not name a call, so the latest one asks; without a call nobody can answer.
        Ok(match self.notifications.latest() {
            Some(scope) => elicit(&self.server, request, &scope).await,
            None => ElicitResult::new(ElicitationAction::Decline),
        })
    }

    async fn on_progress(
        &self,
        params: ProgressNotificationParam,
        _context: NotificationContext<RoleClient>,
    ) {
        self.forward("notifications/progress", &params);
    }

    async fn on_logging_message(
        &self,
        params: LoggingMessageNotificationParam,
        _context: NotificationContext<RoleClient>,
    ) {
        self.forward("notifications/message", &params);
    }

    async fn on_tool_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.notifications.notify_tools_changed();
    }
}
