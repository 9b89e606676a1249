// A session with an MCP server over stdio by the Node SDK. The path of the SDK's modules is the
// argument; standard input is {command, args, env, steps}, standard output what was answered.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const modules = process.argv[2];
const load = (name) => import(pathToFileURL(join(modules, name)).href);
const { Client } = await load("client/index.js");
const { StdioClientTransport } = await load("client/stdio.js");

const { command, args, env, steps } = JSON.parse(readFileSync(0, "utf-8"));
const answers = [];

// "{2.scopes.0.text}" stands for a field of the second answer
function bound(value) {
  if (typeof value === "string") {
    const place = /^\{(\d+)\.([\w.]+)\}$/.exec(value);
    if (place === null) return value;
    return place[2].split(".").reduce((found, name) => found[name], answers[place[1] - 1]);
  }
  if (Array.isArray(value)) return value.map(bound);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, bound(inner)]));
}

const client = new Client({ name: "node-session", version: "1" });
await client.connect(new StdioClientTransport({ command, args, env, stderr: "inherit" }));
const { tools } = await client.listTools();
const results = [];
for (const step of steps) {
  const result = await client.callTool({ name: step.tool, arguments: bound(step.arguments) });
  answers.push(JSON.parse(result.content[0].text));
  results.push({ isError: result.isError ?? false, text: result.content[0].text });
}
const server = client.getServerVersion();
const instructions = client.getInstructions();
await client.close();
console.log(JSON.stringify({ server, instructions, tools, results }));
