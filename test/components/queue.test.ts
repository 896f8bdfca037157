import { expect } from 'chai';
import { asDomainName } from '../../runtime/domain-name/index.ts';
import { components } from '../../runtime/component-registry/index.ts';
import { MemoryQueues } from '../../runtime/runs/ports/queueing.ts';
import { simulate as runSimulation } from '../../runtime/workbench/simulation/simulation.ts';
import { readAgent, type SimulatedAgent } from '../../runtime/workbench/simulation/simulated-agents.ts';
import { type PhoneScript, readPhone } from '../../runtime/workbench/simulation/phones.ts';
import { problems, program } from '../support/scenarios.ts';

const QUEUE = `id: q
on: { dtmf: { 0: message } }
start: pick_up
blocks:
  pick_up: { answer: , next: line }
  line:
    queue: { name: support, announce: 10s, max: 35s }
    exits: { turn: agents, announce: tell, timeout: message }
  tell: { say: "You are number \${line.position}", next: line }
  agents:
    hunt: { members: ["102"], timeout: 5s }
    exits: { failed: pause }
  pause: { hold_music: { duration: 4s }, next: line }
  message: { say: "Leave a message", next: end }
`;

describe('queue', () => {
  const run = (queues: Record<string, number[]>, script = {}) =>
    runSimulation(program(QUEUE), { script: { hangsUpAfter: 600_000, ...script }, components, queues });
  const path = ({ run: { trace } }: Awaited<ReturnType<typeof run>>) =>
    trace.map(({ block, exit }) => `${block} ${exit}`);

  it('lets callers wait for their turn, and gives their position', async () => {
    const simulation = await run({ support: [3000, 13_000] });
    expect(path(simulation)).to.deep.equal([
      'pick_up next',
      'line announce',
      'tell next',
      'line turn',
      'agents answered',
    ]);
    expect([...simulation.events.values()].flat().map(({ what }) => what)).to.include('say You are number 2');
    expect(simulation.outcome.milliseconds).to.equal(14_000);
  });

  it('keeps the place while agents are tried, and releases it after the longest wait', async () => {
    const busy = { answers: [{ after: 0, status: 486 }] };
    const trying = await run({}, { phones: { 102: busy }, hangsUpAfter: 9000 });
    expect(path(trying).slice(1, 8)).to.deep.equal([
      'line turn',
      'agents failed',
      'pause next',
      'line turn',
      'agents failed',
      'pause next',
      'line turn',
    ]);
    const waiting = await run({ support: [600_000] });
    expect(path(waiting).slice(-2)).to.deep.equal(['line timeout', 'message next']);
    expect(waiting.run.trace.at(-2)?.result).to.deep.equal({
      position: 2,
      length: 2,
      milliseconds: 35_000,
      expected: -1,
    });
  });

  it('can be left by a key', async () => {
    const simulation = await run({ support: [600_000] }, { turns: [{ kind: 'press', digits: '0', after: 4000 }] });
    expect(path(simulation)).to.deep.equal(['pick_up next', 'line interrupted', 'message next']);
  });

  it('is left by a caller who continues elsewhere; later callers move up', async () => {
    const leaving = QUEUE.replace('{ 0: message }', '{ 0: out }').replace(
      '  message:',
      '  out: { queue: { name: support, leave: true }, exits: { left: message } }\n  message:',
    );
    const script = { hangsUpAfter: 600_000, turns: [{ kind: 'press', digits: '0', after: 4000 }] as const };
    const simulation = await runSimulation(program(leaving), { script, components, queues: { support: [600_000] } });
    expect(path(simulation)).to.deep.equal(['pick_up next', 'line interrupted', 'out left', 'message next']);
    expect(simulation.run.trace.at(-2)?.result).to.deep.equal({ position: 0, length: 1 });
  });

  it('later callers move up when one leaves', () => {
    const queues = new MemoryQueues();
    const moved: string[] = [];
    for (const name of ['a', 'b', 'c'])
      queues.enter(asDomainName('d'), 'q', { run: name, since: 1, moved: () => moved.push(name) });
    expect(queues.enter(asDomainName('d'), 'q', { run: 'b', since: 9, moved: () => moved.push('b') })?.since).to.equal(
      1,
    );
    queues.leave(asDomainName('d'), 'q', 'b');
    queues.leave(asDomainName('d'), 'q', 'b');
    expect(moved).to.deep.equal(['c']);
    expect(['a', 'b', 'c'].map((name) => queues.position(asDomainName('d'), 'q', name))).to.deep.equal([1, 0, 2]);
    queues.leave(asDomainName('d'), 'q', 'a');
    queues.leave(asDomainName('d'), 'q', 'c');
    expect(queues.length(asDomainName('d'), 'q')).to.equal(0);
  });

  describe('with agents', () => {
    const AGENTS = `id: q
start: pick_up
blocks:
  pick_up: { answer: , next: line }
  line:
    queue: { name: support, agents: ["102", "103"], skills: [german], ring: 5s, wrap_up: 10s, announce: 20s, max: 50s, sounds: "tone:%(500,500,440)" }
    exits: { served: rate, announce: tell, timeout: sorry }
  tell: { say: "You are number \${line.position}", next: line }
  rate: { say: "Thank you", next: end }
  sorry: { say: "Sorry", next: end }
`;
    async function serve(agents: Record<string, string>, phones: Record<string, string>) {
      const simulation = await runSimulation(program(AGENTS), {
        components,
        script: {
          phones: Object.fromEntries(
            Object.entries(phones).map(([number, text]) => [number, readPhone(text) as PhoneScript]),
          ),
        },
        agents: Object.fromEntries(
          Object.entries(agents).map(([number, text]) => [number, readAgent(text) as SimulatedAgent]),
        ),
      });
      const events = [...simulation.events.values()].flat().map(({ what }) => what);
      return {
        path: path(simulation),
        result: simulation.run.trace.find(({ block }) => block === 'line')?.result,
        events,
      };
    }

    it('waits until an agent with the skills is free, and gives the caller back after the conversation', async () => {
      const agents = { 102: 'skills german, talks 8s', 103: 'ready' };
      const { path: way, result, events } = await serve(agents, { 102: 'answers after 2s, hangs up after 30s' });
      expect(way).to.deep.equal(['pick_up next', 'line served', 'rate next']);
      expect(result).to.deep.include({ agent: '102', talked: 30_000, milliseconds: 10_000, expected: 0 });
      expect(events).to.include.members(['play tone:%(500,500,440) (until stopped)', '102: dial 102', 'bridge 102']);
    });

    it('passes over who is away or does not answer, announces the place, and ends the wait', async () => {
      const agents = { 102: 'away, skills german', 103: 'skills german' };
      const { path: way, events } = await serve(agents, { 103: 'no answer' });
      expect(way).to.deep.equal([
        'pick_up next',
        'line announce',
        'tell next',
        'line announce',
        'tell next',
        'line timeout',
        'sorry next',
      ]);
      expect(events.filter((what) => what.endsWith('dial 103'))).to.have.length(2);
      expect(events.some((what) => what.endsWith('dial 102'))).to.equal(false);
    });

    it('expects a wait by the calls before, and serves higher priorities first', () => {
      const queues = new MemoryQueues();
      const [domain, moved] = [asDomainName('d'), () => undefined];
      queues.enter(domain, 'q', { run: 'a', since: 1, moved });
      queues.enter(domain, 'q', { run: 'vip', since: 2, priority: 5, moved });
      queues.enter(domain, 'q', { run: 'vip2', since: 3, priority: 5, moved });
      expect(['vip', 'vip2', 'a'].map((id) => queues.position(domain, 'q', id))).to.deep.equal([1, 2, 3]);
      expect(queues.servingTime(domain, 'q')).to.equal(undefined);
      queues.served(domain, 'q', 10_000);
      queues.served(domain, 'q', 20_000);
      expect(queues.servingTime(domain, 'q')).to.equal(12_000);
      expect(queues.list(domain)).to.deep.equal([{ name: 'q', length: 3, since: 1, serving: 12_000 }]);
    });

    it('refuses settings of agents without agents', () => {
      expect(problems(QUEUE.replace('announce: 10s', 'skills: [german]')).join()).to.contain(
        '`skills` is for a queue with `agents`',
      );
    });
  });
});
