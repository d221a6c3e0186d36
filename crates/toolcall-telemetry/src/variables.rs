//! Settings from the environment variables of OpenTelemetry.
//! The caller passes a lookup function: it does not read the environment itself.

use std::time::Duration;

use percent_encoding::percent_decode_str;

use crate::content::{ContentCapture, Redact};
use crate::settings::{Endpoint, Settings, TelemetryConfigError};

const DISABLED: &str = "OTEL_SDK_DISABLED";
const EXPORTER: &str = "OTEL_TRACES_EXPORTER";
const ENDPOINT: &str = "OTEL_EXPORTER_OTLP_ENDPOINT";
const TRACES_ENDPOINT: &str = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT";
const HEADERS: [&str; 2] = [
    "OTEL_EXPORTER_OTLP_TRACES_HEADERS",
    "OTEL_EXPORTER_OTLP_HEADERS",
];
const PROTOCOL: [&str; 2] = [
    "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL",
    "OTEL_EXPORTER_OTLP_PROTOCOL",
];
const TIMEOUT: [&str; 2] = [
    "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT",
    "OTEL_EXPORTER_OTLP_TIMEOUT",
];
const DELAY: &str = "OTEL_BSP_SCHEDULE_DELAY";
const QUEUE_CAPACITY: &str = "OTEL_BSP_MAX_QUEUE_SIZE";
const SERVICE: &str = "OTEL_SERVICE_NAME";
const RESOURCE: &str = "OTEL_RESOURCE_ATTRIBUTES";
const CONTENT: &str = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT";

/// The largest queue that can be configured: each span may hold a few kilobytes.
const MAX_QUEUE_CAPACITY: usize = 65_536;

impl Settings {
    /// Reads settings from environment variables; returns `None` unless one names an endpoint and none disables it.
    ///
    /// `redact` is used if the variables switch content on.
    pub fn from_variables(
        variable: impl Fn(&str) -> Option<String>,
        redact: Redact,
    ) -> Result<Option<Self>, TelemetryConfigError> {
        let variables = EnvVariables(&variable);
        if variables.is_true(DISABLED) || variables.is_set_to(EXPORTER, "none") {
            return Ok(None);
        }
        let Some(endpoint) = variables.endpoint()? else {
            return Ok(None);
        };
        variables.check_protocol()?;
        let mut settings = variables.with_headers(Settings::to(endpoint))?;
        variables.set_resource(&mut settings)?;
        if let Some(timeout) = variables.first(TIMEOUT) {
            settings.timeout = timeout.millis()?;
        }
        if let Some(delay) = variables.get(DELAY) {
            settings.delay = delay.millis()?;
        }
        if let Some(queue_capacity) = variables.get(QUEUE_CAPACITY) {
            let queue_capacity =
                usize::try_from(queue_capacity.number()?).unwrap_or(MAX_QUEUE_CAPACITY);
            settings.queue_capacity = queue_capacity.min(MAX_QUEUE_CAPACITY);
        }
        if variables.is_true(CONTENT) {
            settings.content = ContentCapture::On(redact);
        }
        Ok(Some(settings))
    }
}

struct EnvVariables<'a>(&'a dyn Fn(&str) -> Option<String>);

/// A variable with a value.
struct EnvVariable {
    name: &'static str,
    value: String,
}

impl EnvVariables<'_> {
    /// Returns a variable; an empty one counts as not set.
    fn get(&self, name: &'static str) -> Option<EnvVariable> {
        let value = (self.0)(name)?.trim().to_owned();
        (!value.is_empty()).then_some(EnvVariable { name, value })
    }

    fn first(&self, names: [&'static str; 2]) -> Option<EnvVariable> {
        names.into_iter().find_map(|name| self.get(name))
    }

    fn is_set_to(&self, name: &'static str, word: &str) -> bool {
        let variable = self.get(name);
        variable.is_some_and(|variable| variable.value.eq_ignore_ascii_case(word))
    }

    fn is_true(&self, name: &'static str) -> bool {
        self.is_set_to(name, "true")
    }

    /// Returns the URL of traces as it is, or the URL of a collector with `/v1/traces` appended.
    fn endpoint(&self) -> Result<Option<Endpoint>, TelemetryConfigError> {
        if let Some(variable) = self.get(TRACES_ENDPOINT) {
            return Endpoint::parse(variable.name, &variable.value).map(Some);
        }
        match self.get(ENDPOINT) {
            Some(variable) => Ok(Some(
                Endpoint::parse(variable.name, &variable.value)?.of_traces(),
            )),
            None => Ok(None),
        }
    }

    fn check_protocol(&self) -> Result<(), TelemetryConfigError> {
        match self.first(PROTOCOL) {
            Some(variable) if variable.value != "http/protobuf" => {
                Err(TelemetryConfigError::Protocol(variable.name))
            }
            Some(_) | None => Ok(()),
        }
    }

    fn with_headers(&self, settings: Settings) -> Result<Settings, TelemetryConfigError> {
        let Some(variable) = self.first(HEADERS) else {
            return Ok(settings);
        };
        let mut headers = variable.pairs()?.into_iter();
        headers.try_fold(settings, |settings, (name, value)| {
            settings.header_of(variable.name, &name, &value)
        })
    }

    /// Sets the resource attributes. `OTEL_SERVICE_NAME` overrides a `service.name` among them.
    fn set_resource(&self, settings: &mut Settings) -> Result<(), TelemetryConfigError> {
        if let Some(variable) = self.get(RESOURCE) {
            settings.resource = variable.pairs()?;
        }
        let mut named = None;
        settings.resource.retain(|(key, value)| {
            let is_name = key == "service.name";
            if is_name {
                named = Some(value.clone());
            }
            !is_name
        });
        let own = self.get(SERVICE).map(|variable| variable.value);
        if let Some(name) = own.or(named) {
            settings.service = name;
        }
        Ok(())
    }
}

impl EnvVariable {
    fn number(&self) -> Result<u64, TelemetryConfigError> {
        let number = self.value.parse().ok().filter(|number| *number > 0);
        number.ok_or(TelemetryConfigError::Number(self.name))
    }

    fn millis(&self) -> Result<Duration, TelemetryConfigError> {
        self.number().map(Duration::from_millis)
    }

    /// `key=value,key=value`, with values percent-encoded.
    fn pairs(&self) -> Result<Vec<(String, String)>, TelemetryConfigError> {
        let entries = self.value.split(',').map(str::trim);
        entries
            .filter(|entry| !entry.is_empty())
            .map(|entry| pair(entry).ok_or(TelemetryConfigError::Pairs(self.name)))
            .collect()
    }
}

fn pair(entry: &str) -> Option<(String, String)> {
    let (key, value) = entry.split_once('=')?;
    let key = key.trim();
    let value = percent_decode_str(value.trim()).decode_utf8().ok()?;
    (!key.is_empty()).then(|| (key.to_owned(), value.into_owned()))
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn read(variables: &[(&str, &str)]) -> Result<Option<Settings>, TelemetryConfigError> {
        let variable = |name: &str| {
            let mut all = variables.iter();
            all.find(|(known, _)| *known == name)
                .map(|(_, value)| (*value).to_owned())
        };
        Settings::from_variables(variable, Redact::nothing())
    }

    fn check(variables: &[(&str, &str)], expected: &Expect) {
        expected.assert_debug_eq(&read(variables).unwrap());
    }

    fn fails(variables: &[(&str, &str)], expected: &Expect) {
        let mut all = vec![(ENDPOINT, "http://collector:4318")];
        all.splice(0..0, variables.iter().copied());
        expected.assert_eq(&read(&all).unwrap_err().to_string());
    }

    #[test]
    fn without_an_endpoint_there_is_nothing() {
        for variables in [
            &[][..],
            &[(SERVICE, "mine"), (HEADERS[1], "a=b")],
            &[(ENDPOINT, " ")],
            &[(ENDPOINT, "http://collector"), (DISABLED, "True")],
            &[(ENDPOINT, "http://collector"), (EXPORTER, "none")],
        ] {
            assert!(read(variables).unwrap().is_none(), "{variables:?}");
        }
    }

    #[test]
    fn a_collector_is_enough() {
        check(
            &[(ENDPOINT, "http://collector:4318/")],
            &expect![[r#"
            Some(
                Settings {
                    endpoint: Endpoint(http://collector:4318/v1/traces),
                    headers: {},
                    service: "toolcall",
                    resource: [],
                    timeout: 10s,
                    delay: 5s,
                    queue_capacity: 2048,
                    content: Off,
                },
            )
        "#]],
        );
    }

    #[test]
    fn everything_can_be_set_and_no_secret_is_shown() {
        check(
            &[
                (TRACES_ENDPOINT, "https://collector/otlp?key=hidden"),
                (ENDPOINT, "http://another"),
                (HEADERS[1], "authorization=Bearer%20hidden, x-team = a=b ,"),
                (PROTOCOL[1], "http/protobuf"),
                (TIMEOUT[1], "2500"),
                (DELAY, "100"),
                (QUEUE_CAPACITY, "99999999"),
                (SERVICE, "mine"),
                (
                    RESOURCE,
                    "service.name=theirs,deployment.environment.name=caf%C3%A9",
                ),
                (CONTENT, "true"),
            ],
            &expect![[r#"
                Some(
                    Settings {
                        endpoint: Endpoint(https://collector/otlp),
                        headers: {
                            "authorization": Sensitive,
                            "x-team": Sensitive,
                        },
                        service: "mine",
                        resource: [
                            (
                                "deployment.environment.name",
                                "café",
                            ),
                        ],
                        timeout: 2.5s,
                        delay: 100ms,
                        queue_capacity: 65536,
                        content: On(
                            Redact,
                        ),
                    },
                )
            "#]],
        );
        let settings = read(&[(ENDPOINT, "http://c"), (HEADERS[0], "x=Bearer%20hidden")]);
        let settings = settings.unwrap().unwrap();
        assert_eq!(settings.headers["x"], "Bearer hidden");
    }

    #[test]
    fn the_service_may_be_named_among_the_attributes() {
        let settings = read(&[(ENDPOINT, "http://c"), (RESOURCE, "service.name=theirs")]);
        let settings = settings.unwrap().unwrap();
        assert_eq!((&*settings.service, settings.resource), ("theirs", vec![]));
    }

    #[test]
    fn what_is_wrong_is_named_and_not_quoted() {
        fails(
            &[(ENDPOINT, "hidden")],
            &expect![
                "`OTEL_EXPORTER_OTLP_ENDPOINT` is not a URL; write one like `http://localhost:4318`"
            ],
        );
        fails(
            &[(TRACES_ENDPOINT, "ftp://hidden/")],
            &expect![
                "`OTEL_EXPORTER_OTLP_TRACES_ENDPOINT` is not a URL; write one like `http://localhost:4318`"
            ],
        );
        fails(
            &[(ENDPOINT, "http://me:hidden@host")],
            &expect![
                "`OTEL_EXPORTER_OTLP_ENDPOINT` holds a user or a password; put them into `OTEL_EXPORTER_OTLP_HEADERS`"
            ],
        );
        fails(
            &[(HEADERS[1], "hidden")],
            &expect!["`OTEL_EXPORTER_OTLP_HEADERS` is not a list like `key=value,other=value`"],
        );
        fails(
            &[(HEADERS[0], "a b=hidden")],
            &expect!["`OTEL_EXPORTER_OTLP_TRACES_HEADERS` has an invalid header name or value"],
        );
        fails(
            &[(HEADERS[0], "a=hidden%0A")],
            &expect!["`OTEL_EXPORTER_OTLP_TRACES_HEADERS` has an invalid header name or value"],
        );
        fails(
            &[(RESOURCE, "=hidden")],
            &expect!["`OTEL_RESOURCE_ATTRIBUTES` is not a list like `key=value,other=value`"],
        );
        fails(
            &[(TIMEOUT[0], "-1")],
            &expect!["`OTEL_EXPORTER_OTLP_TRACES_TIMEOUT` is not a whole number above zero"],
        );
        fails(
            &[(DELAY, "0")],
            &expect!["`OTEL_BSP_SCHEDULE_DELAY` is not a whole number above zero"],
        );
        fails(
            &[(PROTOCOL[0], "grpc")],
            &expect![
                "`OTEL_EXPORTER_OTLP_TRACES_PROTOCOL` names a protocol that is not supported; write `http/protobuf`"
            ],
        );
    }
}
