import process from 'node:process';
import { isatty } from 'node:tty';
import { parseArgs } from 'node:util';
import { type Config, readConfig } from '../config/index.ts';
import { type Node, startNode } from '../node/index.ts';
import { onStopSignals } from './stop-signals.ts';
import { defaultDrainMs } from './service-manager.ts';
import { usageOf } from './usage.ts';

const USAGE = 'ringmaster start: runs a node; settings are environment variables, see docs/operating/settings.md';

/**
 * `ringmaster start`: runs a node until SIGTERM, SIGINT or SIGHUP, and then until its calls are over, for as long as
 * RINGMASTER_DRAIN says. A start that fails ends the process with 1.
 */
export async function start(args: readonly string[]): Promise<number | undefined> {
  const told = await usageOf(USAGE, args, async () => void parseArgs({ args: [...args], options: {} }));
  if (told !== undefined) return told;
  let config: Config;
  let node: Node;
  try {
    config = readConfig(process.env);
    node = await startNode(config);
  } catch (error) {
    // One clear line with the mistake and its place. Open resources end with the process.
    process.stderr.write(`ringmaster: ${describe(error)}\n`);
    process.exit(1);
  }
  const end = () => void node.stop().then(() => process.exit(0));
  onStopSignals(node.drain, config.drainMs ?? defaultDrainMs(process.env, isatty(0)), end);
  void node.drain.over.then(end);
  void node.failed.then(async (error) => {
    process.stderr.write(`ringmaster: ${error.message}\n`);
    await node.stop();
    process.exit(1);
  });
  // Last: a reader of the ready line may end the process at once.
  process.stdout.write(welcome(node));
  node.showLog();
  return undefined;
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (process.env.RINGMASTER_LOG_LEVEL === 'debug' || process.env.RINGMASTER_LOG_LEVEL === 'trace') {
    return error.stack ?? error.message;
  }
  const reason = error.cause instanceof Error ? error.cause.message : '';
  const cause = error.message.includes(reason) ? '' : ` (${reason})`;
  return `${error.message}${cause}`.replaceAll('\n', ' ');
}

function welcome(node: Node): string {
  const { httpAddress, httpsAddress, sipAddress, sipsAddress, webSocketUrls, demo, hasAccounts } = node;
  const lines = [
    '',
    'Ringmaster is ready.',
    '',
    `  HTTP  ${httpAddress}/`,
    ...(httpsAddress === undefined ? [] : [`  HTTPS ${httpsAddress}/`]),
    `  REST  ${httpAddress}/rest/v1`,
    `  API   ${httpAddress}/rest/v1/docs`,
    `  Docs  ${httpAddress}/docs/operating/README.md`,
    `  SIP   ${sipAddress} (UDP and TCP)`,
    ...(sipsAddress === '' ? [] : [`  SIPS  ${sipsAddress} (TLS)`]),
    ...(webSocketUrls === '' ? [] : [`  WS    ${webSocketUrls} (SIP over WebSocket)`]),
    '',
  ];
  if (!hasAccounts) lines.push(...NO_ACCOUNTS);
  if (demo) lines.push(...demoHints(httpAddress, sipAddress));
  return `${lines.join('\n')}\n`;
}

const NO_ACCOUNTS = [
  'No account exists: nobody can log in, and no phone can register. End this node, make the first administrator, and',
  'start again:',
  '',
  '  npx ringmaster init --domain shop.example --sipusers 101-110',
  '',
];

function demoHints(http: string, sip: string): string[] {
  return [
    'Demo accounts, domain demo.local:',
    '  alice 101, bob 102, carol 103, dave 104   SIP and REST password demo-<login>',
    '  admin                                     REST password demo-admin',
    '',
    `Three things to try; watch the calls at ${http}/ as admin:`,
    `  1. Open ${http}/phone in a browser, choose Alice and call 500; or register a SIP phone as alice (server ${sip},`,
    '     domain demo.local, password demo-alice).',
    '  2. Choose Bob in a second window, and call 102 from the first.',
    '  3. Let the platform call both:',
    `     TOKEN=$(curl -s ${http}/rest/v1/iam/sessions -H 'Content-Type: application/json' \\`,
    `       -d '{"domain":"demo.local","login":"alice","pwd":"demo-alice","session_type":"token"}' | sed 's/.*:"\\(.*\\)".*/\\1/')`,
    `     curl -s ${http}/rest/v1/user/sip/calls -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' \\`,
    `       -d '{"from":"101","to":"102"}'`,
    '',
  ];
}
