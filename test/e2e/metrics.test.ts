import { spawnSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { Phone, type PhoneOptions } from '../phones/phone.ts';
import { parseUri } from '../phones/sip/address.ts';
import { eventually } from '../support/eventually.ts';
import { expectTalk } from './expectations.ts';
import { useStage } from '../support/stage.ts';

const OPERATING = fileURLToPath(new URL('../../docs/operating/', import.meta.url));
/** Pages and files that name metrics. */
const FILES = [...globSync(['grafana/*.json', 'prometheus/*.yml'], { cwd: OPERATING }), 'monitoring.md'];
/** A metric, without the suffix of a histogram's series; not the name of a recording rule. */
const NAMES = /(?<![:\w])(?:ringmaster|process|nodejs)_[a-z_]+(?![:\w*])/g;

/** The queries of a dashboard as rules, which Prometheus can check. */
function rulesOf(dashboard: string): string {
  const { panels } = JSON.parse(dashboard) as { panels: { targets: { expr: string }[] }[] };
  const queries = panels.flatMap(({ targets }) => targets.map(({ expr }) => expr.replaceAll('$__rate_interval', '5m')));
  const rules = queries.map((expr, at) => ({ record: `query_${at}`, expr }));
  return JSON.stringify({ groups: [{ name: 'dashboard', rules }] });
}

/** The query of a panel, for every value of its variables. */
function queryOf(dashboard: string, title: string): string {
  const { panels } = JSON.parse(dashboard) as { panels: { title: string; targets: { expr: string }[] }[] };
  const [query] = panels.find((panel) => panel.title === title)?.targets ?? [];
  return query?.expr.replaceAll(/\$[a-z]+/g, '.*') ?? expect.fail(title);
}

/**
 * A test of the alert for lost events, whose two metrics have different labels, of that for refused calls, and of the failed runs of a
 * dashboard: the first failure makes the series, which has no increase then.
 */
function rulesTest(rules: string, failedRuns: string): string {
  const labels = 'instance="a",job="ringmaster"';
  const series = [
    { series: `ringmaster_event_gaps_total{${labels}}`, values: '0x15' },
    { series: `ringmaster_event_subscribers_dropped_total{${labels},transport="sse"}`, values: '0x10 1x5' },
    { series: `ringmaster_event_subscribers_dropped_total{${labels},transport="websocket"}`, values: '0x15' },
  ];
  const fired = {
    eval_time: '15m',
    alertname: 'RingmasterEventsLost',
    exp_alerts: [
      {
        exp_labels: { severity: 'warning', instance: 'a' },
        exp_annotations: { summary: 'Subscribers of a lost events' },
      },
    ],
  };
  const refused = {
    eval_time: '20m',
    alertname: 'RingmasterRefusesCalls',
    exp_alerts: [
      {
        exp_labels: { severity: 'warning', instance: 'a' },
        exp_annotations: { summary: 'a refused 5 calls within five minutes, overloaded or at its limits' },
      },
    ],
  };
  const failed = `ringmaster_scenario_run_seconds_count{${labels},domain="d",scenario="s",status="failed"}`;
  const tests = [
    { interval: '1m', input_series: series, alert_rule_test: [{ ...fired, eval_time: '5m', exp_alerts: [] }, fired] },
    {
      interval: '1m',
      input_series: [{ series: `ringmaster_calls_refused_total{${labels},by="sip"}`, values: '0+1x25' }],
      alert_rule_test: [refused],
    },
    {
      interval: '1m',
      input_series: [{ series: failed, values: '_x5 1x10 2x100' }],
      promql_expr_test: [
        { expr: failedRuns, eval_time: '4m', exp_samples: [{ labels: '{}', value: 0 }] },
        { expr: failedRuns, eval_time: '10m', exp_samples: [{ labels: '{}', value: 1 }] },
        { expr: failedRuns, eval_time: '30m', exp_samples: [{ labels: '{}', value: 2 }] },
        { expr: failedRuns, eval_time: '110m', exp_samples: [{ labels: '{}', value: 0 }] },
      ],
    },
  ];
  return JSON.stringify({ rule_files: [rules], evaluation_interval: '1m', tests });
}

const DOMAIN = 'domain="demo.local"';
const ECHO_HZ = 620;

describe('metrics', () => {
  const stage = useStage({ ownNode: true });

  const text = async (): Promise<string> => (await (await stage.rest()).get('/metrics')).text;

  /** The value of one line; undefined without the line. */
  async function value(line: string): Promise<number | undefined> {
    const found = (await text()).split('\n').find((each) => each.startsWith(`${line} `));
    return found === undefined ? undefined : Number(found.slice(line.length + 1));
  }

  const expectValue = (line: string, expected: number): Promise<void> =>
    eventually(async () => void expect(await value(line), line).to.equal(expected));

  async function expectCreated(path: string, body: object): Promise<void> {
    const answer = await (await stage.rest()).send('POST', `/rest/v1/domain/${path}`, { body });
    expect(answer.status, answer.text).to.equal(200);
  }

  it('have histograms, which can be added over nodes, and no summary', async () => {
    const all = await text();
    expect(all).to.contain('# TYPE ringmaster_operation_answer_seconds histogram');
    expect(all).to.not.match(/^# TYPE \S+ summary$/m);
  });

  it('count calls to scenarios with their set-up time, and runs with their duration', async () => {
    const [alice] = await stage.phones('alice');
    const call = await alice.call('501');
    await call.answered();
    // A caller who hangs up before it may be counted as one who gave up.
    call.play(ECHO_HZ);
    await call.hears(ECHO_HZ, { withinMs: 10_000 });
    await call.hangup();
    const labels = `${DOMAIN},scenario="echo"`;
    await expectValue(`ringmaster_scenario_calls_total{${labels},status="200"}`, 1);
    await expectValue(`ringmaster_scenario_call_setup_seconds_bucket{le="30",${labels}}`, 1);
    await expectValue(`ringmaster_scenario_run_seconds_count{${labels},status="ended"}`, 1);
  });

  it('have failures, time in blocks, processor time and memory of each scenario', async () => {
    const source =
      'export default async function (call) { await call.answer(); throw new ScenarioError("no_luck", "x"); }';
    await expectCreated('ivrscripts', { code: 'unlucky', scriptdata: { format: 'js', source } });
    const [alice] = await stage.phones('alice');
    const call = await alice.call('*55unlucky');
    await call.ended(10_000);
    const labels = `${DOMAIN},scenario="unlucky"`;
    await expectValue(`ringmaster_scenario_failures_total{${labels},code="no_luck"}`, 1);
    await expectValue(`ringmaster_scenario_blocks_total{${labels},block="call.answer"}`, 1);
    expect(await value(`ringmaster_scenario_block_seconds_total{${labels},block="call.answer"}`)).to.be.at.least(0);
    expect(await value(`ringmaster_scenario_cpu_seconds_total{${labels}}`)).to.be.greaterThan(0);
    expect(await value(`ringmaster_scenario_memory_bytes{${labels}}`)).to.be.greaterThan(0);
  });

  it('have no label for codes that callers make up', async () => {
    const [alice] = await stage.phones('alice');
    expect((await (await alice.call('*55madeup')).refused()).status).to.equal(404);
    expect(await text()).to.not.contain('madeup');
  });

  it('count calls with each provider by direction and SIP status, with the set-up time of answered ones', async () => {
    const phoneOptions: Partial<PhoneOptions> = { registrar: stage.node.sip };
    const outside = await Phone.start({ login: '0030123', domain: 'demo.local', ...phoneOptions });
    try {
      const { host, port } = parseUri(outside.contact);
      const count = `ringmaster_rtp_jitter_seconds_count{${DOMAIN},trunk="",direction="in"}`;
      const before = new Map([['', await value(count)]]);
      await expectCreated('providers', { code: 'carrier', host, port, numbers: ['102'] });
      await expectCreated('routes', { to_pattern: '00%', target: { type: 'provider', code: 'carrier' } });
      const [alice, bob] = await stage.phones('alice', 'bob');
      const out = await stage.connect(alice, outside, '0030123');
      await expectTalk(out.outgoing, out.incoming);
      await out.outgoing.hangup();
      await out.incoming.ended();
      const busy = await alice.call('0030123');
      (await outside.incoming()).reject(486);
      await busy.refused();
      const strange = await alice.call('0030123');
      (await outside.incoming()).reject(499);
      await strange.refused();
      const into = await stage.connect(outside, bob, '102');
      await expectTalk(into.outgoing, into.incoming);
      await into.outgoing.hangup();
      await into.incoming.ended();
      expect((await (await outside.call('103')).refused()).status, 'not a number of the provider').to.equal(404);

      const trunk = (direction: string): string => `${DOMAIN},trunk="carrier",direction="${direction}"`;
      const calls = (direction: string, status: number): string =>
        `ringmaster_trunk_calls_total{${trunk(direction)},status="${status}"}`;
      await expectValue(calls('out', 200), 1);
      await expectValue(calls('out', 486), 1);
      await expectValue(calls('out', 400), 1);
      await expectValue(calls('in', 200), 1);
      await expectValue(calls('in', 404), 1);
      await expectValue(`ringmaster_trunk_call_setup_seconds_bucket{le="30",${trunk('out')}}`, 1);
      await expectValue(`ringmaster_trunk_call_setup_seconds_count{${trunk('in')}}`, 1);
      // The two answered calls of the provider, and their other ends.
      for (const side of ['carrier', '']) {
        const sound = `${DOMAIN},trunk="${side}",direction="in"`;
        await expectValue(`ringmaster_rtp_jitter_seconds_count{${sound}}`, 2 + (before.get(side) ?? 0));
        expect(await value(`ringmaster_rtp_packets_total{${sound}}`), side).to.be.above(4);
        expect(await value(`ringmaster_rtp_packets_lost_total{${sound}}`), side).to.equal(0);
      }
    } finally {
      await outside.stop();
    }
  });

  it('have the processor time and memory of scripts by domain', async () => {
    const folder = join(stage.node.dataDir, 'scenarios');
    await mkdir(folder, { recursive: true });
    const source = `export default async function (call) {
  const kept = Array.from({ length: 100000 }, (_, n) => n);
  for (let n = 0; n < 200; n += 1) kept.reverse();
  await call.answer();
  await sleep('60s');
  return { kept: kept.length };
}
`;
    await writeFile(join(folder, 'busy.js'), source);
    const [alice] = await stage.phones('alice');
    const call = await alice.call('*55busy');
    await call.answered();
    const cpu = `ringmaster_script_cpu_seconds_total{${DOMAIN}}`;
    const memory = `ringmaster_script_memory_bytes{${DOMAIN}}`;
    await eventually(async () => expect(await value(cpu)).to.be.above(0.01));
    expect(await value(memory)).to.be.above(100_000);
    const during = (await value(cpu)) ?? 0;
    await call.hangup();
    await eventually(async () => expect((await value(memory)) ?? 0).to.equal(0));
    expect(await value(cpu), 'counts ended runs').to.be.at.least(during);
  });

  it('are all that dashboards, rules and the page on monitoring name', async () => {
    const known = new Set([...(await text()).matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name));
    for (const file of FILES) {
      const named = (await readFile(join(OPERATING, file), 'utf8')).match(NAMES) ?? [];
      expect(named.length, file).to.be.above(5);
      const isKnown = (name: string): boolean => known.has(name) || known.has(name.replace(/_(bucket|sum|count)$/, ''));
      expect(
        named.filter((name) => !isKnown(name)),
        file,
      ).to.deep.equal([]);
    }
  });

  it('are queried correctly by dashboards and rules (promtool)', async function () {
    if (spawnSync('promtool', ['--version']).error !== undefined) this.skip();
    const folder = await mkdtemp(join(tmpdir(), 'ringmaster-promtool-'));
    const promtool = (input: string, ...args: string[]): void => {
      const { status, stdout, stderr } = spawnSync('promtool', args, { encoding: 'utf8', input });
      expect(status, `${args.join(' ')}: ${stdout}${stderr}`).to.equal(0);
    };
    try {
      promtool(await text(), 'check', 'metrics');
      for (const file of FILES.filter((name) => !name.endsWith('.md'))) {
        const rules = file.endsWith('.yml') ? join(OPERATING, file) : join(folder, 'rules.yml');
        if (file.endsWith('.json')) await writeFile(rules, rulesOf(await readFile(join(OPERATING, file), 'utf8')));
        promtool('', 'check', 'rules', rules);
      }
      const scenarios = await readFile(join(OPERATING, 'grafana/scenarios.json'), 'utf8');
      const tests = join(folder, 'tests.json');
      const failedRuns = queryOf(scenarios, 'Failed runs, an hour');
      await writeFile(tests, rulesTest(join(OPERATING, 'prometheus/ringmaster.rules.yml'), failedRuns));
      promtool('', 'test', 'rules', tests);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it('have pool sizes and the delay of the event loop', async () => {
    for (const pool of ['database', 'scripts', 'event_sockets']) {
      const size = (state: string) => value(`ringmaster_pool_size{pool="${pool}",state="${state}"}`);
      expect(await size('open'), pool).to.be.within(1, (await size('limit')) ?? 0);
    }
    expect(await value('ringmaster_pool_size{pool="endpoints",state="open"}')).to.equal(0);
    const delay = 'ringmaster_event_loop_delay_seconds';
    const before = (await value(`${delay}_count`)) ?? 0;
    await eventually(async () => expect(await value(`${delay}_count`)).to.be.above(before));
    expect(await value(`${delay}_bucket{le="+Inf"}`)).to.be.above(before);
    expect(await value(`${delay}_bucket{le="0.001"}`)).to.be.above(0);
  });
});
