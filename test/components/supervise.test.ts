import { expect } from 'chai';
import { components } from '../../runtime/component-registry/index.ts';
import { simulate } from '../../runtime/workbench/simulation/simulation.ts';
import { program } from '../support/scenarios.ts';
import { scenarioOf } from './support.ts';

const BLOCK = scenarioOf(`
  supervise: { agent: "102", mode: whisper }
  exits: { ended: end, idle: end }`);

describe('component supervise', () => {
  const run = async (agents: Parameters<typeof simulate>[1]['agents'] & object, presses?: string) => {
    const turns = presses === undefined ? [] : [{ kind: 'press' as const, digits: presses, after: 3000 }];
    const {
      run: { trace },
      events,
    } = await simulate(program(BLOCK), { components, agents, script: { turns } });
    const entry = trace.find(({ block }) => block === 'it');
    return { ...entry, events: [...events.values()].flat().map(({ what }) => what) };
  };
  const talking = { 102: { state: 'ready', queues: [], skills: [], talksMs: 8000 } } as const;

  it('goes on until the conversation of the agent is over', async () => {
    const { exit, result, events } = await run(talking);
    expect([exit, result]).to.deep.equal(['ended', { milliseconds: 8000 }]);
    expect(events).to.include('supervise talk-102: whisper');
  });

  it('ends by *', async () => {
    expect((await run(talking, '*')).milliseconds).to.equal(3000);
  });

  it('leaves by idle when the agent has no caller', async () => {
    expect((await run({})).exit).to.equal('idle');
  });
});
