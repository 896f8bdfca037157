import { expect } from 'chai';
import { asDomainName } from '../../runtime/domain-name/index.ts';
import { HOUR_MS, ScenarioFigures } from '../../runtime/history/index.ts';
import { figuresOf, type RunFigures, type RunView, type TraceEntry } from '../../runtime/runs/index.ts';
import { silentLog } from '../support/log.ts';
import { describeStorages, withStorage } from '../storage/support/storages.ts';

const NOON = Date.UTC(2026, 10, 25, 12);
const domain = asDomainName('demo.local');

function figures(more: Partial<RunFigures>): RunFigures {
  const blocks = new Map([
    ['ask', { count: 2, totalMs: 3000, longestMs: 2500 }],
    ['bye', { count: 1, totalMs: 100, longestMs: 100 }],
  ]);
  const none = { code: undefined, cpuMs: 0, memoryBytes: 0 };
  return { domain, scenario: 'menu', version: '1', status: 'completed', milliseconds: 3100, blocks, ...none, ...more };
}

describeStorages('figures of scenarios', (newPlace) => {
  const storage = withStorage(newPlace);
  let now: number;
  const open = (days = 30) =>
    new ScenarioFigures({
      storage: storage(),
      domainId: (name) => (name === domain ? 'd1' : undefined),
      days,
      log: silentLog,
      now: () => now,
    });

  it('are added up by the hour, over all nodes of a database', async () => {
    now = NOON;
    const nodes = [open(), open()];
    nodes[0]?.add(figures({}));
    nodes[0]?.add(figures({ status: 'failed', code: 'http', milliseconds: 9000, cpuMs: 1.5, memoryBytes: 2048 }));
    nodes[1]?.add(figures({ version: '2', status: 'failed', code: 'http', cpuMs: 2, memoryBytes: 1024 }));
    nodes[1]?.add(figures({ domain: asDomainName('removed.local') }));
    await nodes[1]?.close();
    now = NOON + HOUR_MS;
    nodes[0]?.add(figures({ scenario: 'other' }));
    nodes[0]?.add(figures({ status: 'ended', milliseconds: 1, blocks: new Map() }));
    const hour = { from: NOON, to: NOON + HOUR_MS };
    expect(await nodes[0]?.read('d1', 'menu', hour)).to.deep.equal({
      runs: 3,
      statuses: { completed: 1, failed: 2 },
      versions: { 1: 2, 2: 1 },
      total_ms: 15_200,
      longest_ms: 9000,
      failures: { http: 2 },
      blocks: [
        { block: 'ask', count: 6, total_ms: 9000, longest_ms: 2500 },
        { block: 'bye', count: 3, total_ms: 300, longest_ms: 100 },
      ],
      cpu_ms: 3.5,
      memory_bytes: 2048,
    });
    const both = await nodes[1]?.read('d1', 'menu', { from: NOON, to: NOON + 2 * HOUR_MS });
    expect(both).to.include({ runs: 4, longest_ms: 9000 });
    expect(await nodes[0]?.read('d2', 'menu', hour)).to.equal(undefined);
    await nodes[0]?.close();
  });

  it('are removed after their days, and bounded in codes that a scenario makes up', async () => {
    now = NOON;
    const early = open();
    for (let code = 0; code < 250; code += 1)
      early.add(figures({ scenario: 'wild', status: 'failed', code: `code ${code} \0 ${'x'.repeat(500)}` }));
    const wild = await early.read('d1', 'wild', { from: NOON, to: NOON + HOUR_MS });
    expect(Object.keys(wild?.failures ?? {})).to.have.length(201);
    expect(wild?.failures['other']).to.equal(50);
    await early.close();
    now = NOON + 31 * 24 * HOUR_MS;
    const later = open();
    later.add(figures({ scenario: 'late' }));
    expect(await later.read('d1', 'wild', { from: 0, to: now })).to.equal(undefined);
    await later.close();
  });
});

describe('figures of a run', () => {
  it('have its blocks, scripts and the ended scenarios that it started', () => {
    const entry = (block: string, milliseconds: number | undefined, more: object = {}): TraceEntry => ({
      step: 1,
      branch: 'main',
      block,
      component: 'play',
      start: 0,
      ...(milliseconds === undefined ? {} : { milliseconds }),
      ...more,
    });
    const usage = { cpuMs: 2, memoryBytes: 100, wallMs: 0, activations: 1, commands: 0, logLines: 0, logBytes: 0 };
    const view = (id: string, more: Partial<RunView>): RunView => ({
      id,
      scenario: id,
      version: '1',
      file: 'a.yaml',
      callid: '',
      domain,
      trace: [],
      ...more,
    });
    const outcome = { status: 'completed', result: {}, steps: 3, start: 0, milliseconds: 70 } as const;
    const child = view('child', {
      outcome: { ...outcome, status: 'failed', error: { code: 'expression', message: '', block: '' } },
    });
    const run = view('run', {
      outcome,
      trace: [
        entry('a', 10, { usage }),
        entry('b', 20),
        entry('a', 30, { usage: { ...usage, memoryBytes: 300 } }),
        entry('c', undefined),
      ],
      children: [child, view('live', {})],
    });
    const [own, nested, ...more] = figuresOf(run);
    expect(own).to.deep.include({ scenario: 'run', status: 'completed', code: undefined, cpuMs: 4, memoryBytes: 300 });
    expect(Object.fromEntries(own?.blocks ?? [])).to.deep.equal({
      a: { count: 2, totalMs: 40, longestMs: 30 },
      b: { count: 1, totalMs: 20, longestMs: 20 },
    });
    expect(nested).to.deep.include({ scenario: 'child', status: 'failed', code: 'expression' });
    expect(more).to.deep.equal([]);
  });
});
