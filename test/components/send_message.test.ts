import { expect } from 'chai';
import { startRun } from '../../runtime/runs/run/start-run.ts';
import { simulatedServices } from '../../runtime/workbench/simulation/services.ts';
import { SimulatedCall } from '../../runtime/workbench/simulation/simulated-call.ts';
import { VirtualClock } from '../../runtime/workbench/simulation/virtual-clock.ts';
import { silentLog } from '../support/log.ts';
import { problems, program } from '../support/scenarios.ts';
import { play } from './support.ts';

describe('component send_message', () => {
  const message = (to: string, text = 'hello'): string =>
    `
      send_message: { to: "${to}", from: "100", text: "${text}" }
      exits: { delivered: end, refused: end, unreachable: end }`;
  const taken = { result: { status: 200, last_response: 'SIP/2.0 200 OK' } };
  const phones = {
    busy: { answers: [{ after: 50, status: 486 }] },
    rude: { answers: [{ after: 50, status: 603 }] },
    away: { answers: [{ after: 50, status: 480 }] },
    silent: { answers: [{ after: 0, status: 180 }] },
  };

  it('leaves by delivered for 200, and for 486 of a busy phone', async () => {
    expect(await play(message('101'))).to.deep.include({
      ...taken,
      exit: 'delivered',
      events: ['message 101 hello'],
    });
    expect(await play(message('busy'), { phones })).to.deep.include({ ...taken, exit: 'delivered' });
  });

  it('leaves by refused for 603, by unreachable for 480 and without an answer', async () => {
    expect((await play(message('rude'), { phones })).exit).to.equal('refused');
    expect((await play(message('away'), { phones })).exit).to.equal('unreachable');
    expect(await play(message('silent'), { phones })).to.deep.include({ exit: 'unreachable', milliseconds: 20_000 });
  });

  it('counts octets, not characters, when the text is known and when it is not', async () => {
    const scenario = (length: number, text: string): string =>
      [
        'id: t',
        `variables: { long: "${'é'.repeat(length)}" }`,
        'start: it',
        'blocks:',
        '  it:',
        `    send_message: { to: "101", from: "100", text: "${text}" }`,
        '    exits: { delivered: end, refused: end }',
        '',
      ].join(`
`);
    const failure = async (length: number): Promise<string | undefined> => {
      const clock = new VirtualClock();
      const call = new SimulatedCall(clock, { direction: 'outgoing' });
      const services = simulatedServices({ clock });
      const run = startRun(program(scenario(length, '${long}xx')), { call, clock, services, log: silentLog });
      await clock.run(run.finished);
      return run.trace.find(({ block }) => block === 'it')?.error?.code;
    };
    expect(await failure(649)).to.equal(undefined);
    expect(await failure(650)).to.equal('text_too_long');
    expect(problems(scenario(1, 'é'.repeat(651))).join()).to.include('1300 octets of UTF-8 at most');
  });
});
