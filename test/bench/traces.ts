/** What traces in the database cost a run, and lists of them. */
import { randomUUID } from 'node:crypto';
import process from 'node:process';
import { RunHistory } from '../../runtime/history/index.ts';
import { openModel } from '../../runtime/model/index.ts';
import type { RunView } from '../../runtime/runs/index.ts';
import { openFiles } from '../../runtime/storage/files/index.ts';
import { openStorage } from '../../runtime/storage/index.ts';
import { Phone } from '../phones/phone.ts';
import type { RestClient } from '../phones/rest-client.ts';
import { TestNode } from '../support/node.ts';
import { percentile } from './support/percentile.ts';
import { cpuMs } from './support/process-usage.ts';
import type { Benchmark, Figure } from './support/report.ts';

const TRACES = 100_000;
const CALLS = 150;
const WARM_UP = 30;
const LISTS = 100;
const SCENARIOS = 20;
/** Runs that wait in memory at most. */
const SET = 1000;
const HOUR_MS = 3_600_000;
const RUNS = '/rest/v1/api/runs';

/** Ten blocks, with a digit, variables, a log line and results. */
const SCENARIO = `variables: { tries: 0, choice: "" }
start: pick_up
finally: over
blocks:
  pick_up: { answer: , next: count }
  count: { set: { tries: "\${tries + 1}" }, next: greet }
  greet: { play: "tone:%(60,0,440)", next: ask }
  ask: { menu: { prompt: "silence:1s" }, exits: { 1: choose, failed: end } }
  choose: { set: { choice: "\${ask.digit}" }, next: tell }
  tell: { log: "chose \${choice}", next: way }
  way: { switch: "\${choice}", exits: { "1": thank, else: end } }
  thank: { play: "tone:%(60,0,880)", next: result }
  result: { return: "\${choice}" }
  over: { report: { fields: { choice: "\${choice}" } }, next: end }
`;

const QUERIES: readonly (readonly [what: string, query: string])[] = [
  ['the latest 20', ''],
  ['20 of a scenario and status', 'filter={"scenario":"s7","status":"failed"}'],
  ['20 of a caller', 'filter={"from":"1234"}'],
  ['20 of a version', 'filter={"scenario":"s7","version":"3"}'],
];

export const traces: Benchmark = {
  title: `traces: ${CALLS} calls of ten blocks, ${TRACES} traces in PGlite, lists of 20 over HTTP`,
  async run(progress) {
    const node = await TestNode.start({ embedded: true });
    try {
      const admin = await node.login();
      progress('calls');
      const call = await costOfCall(node, admin);
      const view = await lastRun(admin);
      const domain = await domainOf(admin);
      await node.stop();
      progress('traces');
      const trace = await costOfTrace(node.dataDir, domain, view);
      await node.restart();
      progress('lists');
      const [percent] = [(100 * trace) / call];
      return [
        { what: 'ms of processor time of a call to the scenario, with its trace', figure: call },
        { what: 'ms of processor time of storing its trace', figure: trace },
        { what: 'the same in percent of the call', figure: percent },
        ...(await lists(await node.login())),
      ];
    } finally {
      await node.remove();
    }
  },
};

async function costOfCall(node: TestNode, admin: RestClient): Promise<number> {
  const body = { code: 'ten', scriptdata: { format: 'yaml', source: SCENARIO } };
  const made = await admin.send('POST', '/rest/v1/domain/ivrscripts', { body });
  if (made.status !== 200) throw new Error(made.text);
  const phone = await Phone.start({
    login: 'alice',
    domain: 'demo.local',
    password: 'demo-alice',
    registrar: node.sip,
  });
  try {
    await phone.register();
    const one = async (): Promise<void> => {
      const call = await phone.call('*55ten');
      await call.answered();
      await call.sendDtmf('1');
      await call.ended(20_000);
    };
    for (let index = 0; index < WARM_UP; index += 1) await one();
    const { pid = 0 } = node;
    const before = cpuMs(pid);
    for (let index = 0; index < CALLS; index += 1) await one();
    // With their traces, which the list writes.
    await admin.get(`${RUNS}?limit=1`);
    return (cpuMs(pid) - before) / CALLS;
  } finally {
    await phone.stop();
  }
}

async function lastRun(admin: RestClient): Promise<RunView> {
  const [latest] = (await admin.get(`${RUNS}?limit=1`)).json<{ id: string }[]>();
  return (await admin.get(`${RUNS}/${latest?.id}`)).json<RunView>();
}

async function domainOf(admin: RestClient): Promise<string> {
  const [script] = (await admin.get('/rest/v1/domain/ivrscripts')).json<{ domain_id: string }[]>();
  return script?.domain_id ?? '';
}

/** Stores so many traces. @returns milliseconds of processor time for each, PGlite included */
async function costOfTrace(dataDir: string, domain: string, view: RunView): Promise<number> {
  const storage = await openStorage({ dataDir });
  const model = await openModel(storage, { files: openFiles(`${dataDir}/files`) });
  const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
  const history = new RunHistory({ model, domainId: () => domain, days: 0, log });
  try {
    const now = Date.now();
    const before = process.cpuUsage();
    for (let made = 0; made < TRACES; made += 1) {
      const failed = made % 50 === 7;
      history.over({
        ...view,
        id: randomUUID(),
        scenario: `s${made % SCENARIOS}`,
        version: String(1 + (made % 7)),
        from: String(1000 + (made % 2000)),
        start: now - Math.round((made / TRACES) * 20 * HOUR_MS) - HOUR_MS,
        ...(view.outcome && { outcome: { ...view.outcome, status: failed ? 'failed' : 'completed' } }),
      });
      if (made % SET === SET - 1) await history.collection(domain);
    }
    await history.close();
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000 / TRACES;
  } finally {
    await model.close();
    await storage.close();
  }
}

async function lists(admin: RestClient): Promise<readonly Figure[]> {
  const figures: Figure[] = [];
  for (const [what, query] of QUERIES) {
    const times: number[] = [];
    for (let made = -WARM_UP; made < LISTS; made += 1) {
      const began = performance.now();
      const answer = await admin.get(`${RUNS}?limit=20&${query}`);
      if (made >= 0) times.push(performance.now() - began);
      if (answer.json<object[]>().length !== 20) throw new Error(`${what}: ${answer.text.slice(0, 200)}`);
    }
    for (const share of [0.5, 0.99])
      figures.push({ what: `ms of a list, ${what}, p${share * 100}`, figure: percentile(times, share) });
  }
  return figures;
}
