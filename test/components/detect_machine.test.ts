import { expect } from 'chai';
import { components } from '../../runtime/component-registry/index.ts';
import { readPhone } from '../../runtime/workbench/simulation/phones.ts';
import { simulate } from '../../runtime/workbench/simulation/simulation.ts';
import { program } from '../support/scenarios.ts';

const SOURCE = `id: reminder
start: ring
blocks:
  ring: { call: { to: "102", caller_id: "100" }, leg: them, exits: { answered: who, refused: end } }
  who: { detect_machine: end_of_greeting, leg: them, exits: { human: end, machine: end } }
`;

async function who(phone: string) {
  const script = { direction: 'outgoing' as const, phones: { 102: readPhone(phone) ?? { answers: [] } } };
  const { run } = await simulate(program(SOURCE), { components, script });
  const entry = run.trace.find(({ block }) => block === 'who');
  return { exit: entry?.exit, ...entry?.result };
}

describe('component detect_machine', () => {
  it('a phone that says hello is a person', async () => {
    expect(await who('answers, says Hello')).to.deep.include({
      exit: 'human',
      result: 'human',
      cause: 'short_greeting',
      end: '',
      greeting_ms: 300,
      milliseconds: 1300,
    });
  });

  it('a phone that talks on and beeps is a machine', async () => {
    const greeting = 'You have reached Alice Example, please leave a message';
    const found = await who(`answers, says "${greeting}", beeps after 1s`);
    expect(found).to.deep.include({ exit: 'machine', cause: 'long_greeting', end: 'beep', greeting_ms: 1500 });
    expect(found).to.have.property('milliseconds', 200 + greeting.length * 60 + 1000);
  });

  it('a phone that talks on without a beep, and a silent one, are machines', async () => {
    const talks = await who('answers, says "You have reached Alice Example, please leave a message"');
    expect(talks).to.deep.include({ exit: 'machine', end: 'silence' });
    expect(await who('answers, silence')).to.deep.include({ exit: 'machine', cause: 'initial_silence' });
  });
});
