// A client of an agent, written on the npm package `@agentclientprotocol/sdk`: one prompt after the other, and a line
// of JSON for everything that a person would be shown. It judges nothing; the test compares what it printed.
//
//   node client.mjs SDK CAPABILITIES PROMPTS AGENT [ARGUMENT…]
//
// SDK is the folder below which npm put the package. PROMPTS is a JSON list of {text, answer, cancel}: the kind of
// option to choose when asked, and whether to cancel as soon as a call runs.

import { spawn } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { Readable, Writable } from "node:stream";
import { pathToFileURL } from "node:url";

const [sdk, capabilities, prompts, program, ...args] = process.argv.slice(2);
const entry = createRequire(`${sdk}/`).resolve("@agentclientprotocol/sdk");
const acp = await import(pathToFileURL(entry));

const show = (thing) => console.log(JSON.stringify(thing));
// What the package complains about is shown, too: a message that it does not take must not go by unseen.
console.error = console.warn = (...parts) => show({ complaint: parts.map(String).join(" ") });

const calls = new Map();
let current = {};
// They come when they come, and are shown at the end.
let commands = [];
let stop = () => {};

/// What a person sees of a content item.
function seen(item) {
  switch (item.type) {
    case "content":
      return item.content.type === "text" ? item.content.text : { [item.content.type]: item.content.uri };
    case "diff":
      return { diff: item.path, from: item.oldText ?? null, to: item.newText };
    default:
      return item;
  }
}

function shownCall({ title, name, kind, content, locations, statuses }) {
  const places = (locations ?? []).map(({ path, line }) => (line ? `${path}:${line}` : path));
  return { title, name, kind, content: (content ?? []).map(seen), places, statuses };
}

/// How often growing content is told depends on the time, so a call is shown once, when it ended.
function follow(update) {
  const call = calls.get(update.toolCallId) ?? { statuses: [] };
  if (update.sessionUpdate === "tool_call_update" && !calls.has(update.toolCallId)) {
    show({ complaint: "an update of a call that was never announced", update });
  }
  const { sessionUpdate, toolCallId, status, ...fields } = update;
  Object.assign(call, Object.fromEntries(Object.entries(fields).filter(([, value]) => value != null)));
  calls.set(toolCallId, call);
  if (status && call.statuses.at(-1) !== status) {
    call.statuses.push(status);
    if (["completed", "failed"].includes(status)) show({ call: shownCall(call) });
    if (status === "in_progress" && current.cancel) stop();
  }
}

let said = "";
function speak(text) {
  said += text;
}
function flush() {
  if (said) show({ said });
  said = "";
}

function onUpdate({ params: { update } }) {
  switch (update.sessionUpdate) {
    case "agent_message_chunk":
      return speak(update.content.text ?? `[${update.content.type}]`);
    case "tool_call":
    case "tool_call_update":
      flush();
      return follow(update);
    case "plan":
      flush();
      return show({ plan: update.entries.map(({ content, status }) => `${status}: ${content}`) });
    case "agent_thought_chunk":
      return show({ thought: update.content.text });
    case "available_commands_update":
      commands = update.availableCommands.map(({ name }) => name);
      return;
    case "current_mode_update":
      return show({ mode: update.currentModeId });
    case "session_info_update":
      return show({ title: update.title });
    case "config_option_update":
      return show({ options: update.configOptions.map(({ id, currentValue }) => `${id}: ${currentValue}`) });
    default:
      return show({ unknown: update });
  }
}

function onPermission({ params: { toolCall, options } }) {
  flush();
  const call = { ...calls.get(toolCall.toolCallId), ...toolCall };
  const chosen = options.find(({ kind }) => kind === current.answer);
  const { title, content } = shownCall(call);
  show({ asked: title, content, options: options.map(({ kind, name }) => `${kind}: ${name}`), chosen: chosen?.kind });
  return { outcome: chosen ? { outcome: "selected", optionId: chosen.optionId } : { outcome: "cancelled" } };
}

async function onRead({ params: { path } }) {
  show({ read: path });
  return { content: await readFile(path, "utf8") };
}

async function onWrite({ params: { path, content } }) {
  show({ wrote: path, content });
  await writeFile(path, content);
  return {};
}

async function drive(context) {
  const { agentInfo, protocolVersion } = await context.request(acp.methods.agent.initialize, {
    protocolVersion: acp.PROTOCOL_VERSION,
    clientCapabilities: JSON.parse(capabilities),
    clientInfo: { name: "strangers", version: "1" },
  });
  show({ connected: agentInfo?.name, protocolVersion });
  const session = { cwd: process.cwd(), mcpServers: [] };
  const { sessionId } = await context.request(acp.methods.agent.session.new, session);
  for (current of JSON.parse(prompts)) {
    show({ prompt: current.text });
    stop = () => {
      stop = () => {};
      context.notify(acp.methods.agent.session.cancel, { sessionId });
    };
    const prompt = [{ type: "text", text: current.text }];
    const { stopReason } = await context.request(acp.methods.agent.session.prompt, { sessionId, prompt });
    flush();
    show({ stopped: stopReason });
  }
}

const agent = spawn(program, args, { stdio: ["pipe", "pipe", "inherit"] });
const ended = new Promise((resolve) => agent.on("exit", (code, signal) => resolve(code ?? signal)));
const { session, fs } = acp.methods.client;
await acp
  .client({ name: "strangers" })
  .onNotification(session.update, onUpdate)
  .onRequest(session.requestPermission, onPermission)
  .onRequest(fs.readTextFile, onRead)
  .onRequest(fs.writeTextFile, onWrite)
  .connectWith(acp.ndJsonStream(Writable.toWeb(agent.stdin), Readable.toWeb(agent.stdout)), drive);
agent.stdin.end();
show({ commands, exited: await ended });
