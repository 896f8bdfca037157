import { expect } from 'chai';
import { components } from '../../runtime/component-registry/index.ts';
import { readPhone } from '../../runtime/workbench/simulation/phones.ts';
import { simulate as simulateFile } from '../../runtime/workbench/simulation/simulation.ts';
import { program, simulate } from '../support/scenarios.ts';
import { plays, scenarioOf } from './support.ts';

describe('component call', () => {
  plays('waits for the answer', {
    block: `
      call: { to: "101", caller_id: "100" }
      exits: { answered: end, busy: end, no_answer: end, refused: end }`,
    answered: false,
    script: { direction: 'outgoing' },
    exit: 'answered',
    result: { status: 200, last_response: 'SIP/2.0 200 OK', callid: 'ivr@simulation', dialogid: 'dialog-1' },
    milliseconds: 1000,
  });

  plays('leaves by busy for 486', {
    block: `
      call: { to: "101", caller_id: "100" }
      exits: { answered: end, busy: end, no_answer: end, refused: end }`,
    answered: false,
    script: { direction: 'outgoing', dialled: [{ after: 10, status: 486 }] },
    exit: 'busy',
  });

  plays('leaves by no_answer after its timeout', {
    block: `
      call: { to: "101", caller_id: "100", timeout: 5s }
      exits: { answered: end, busy: end, no_answer: end, refused: end }`,
    answered: false,
    script: { direction: 'outgoing', dialled: [{ after: 10, status: 180 }] },
    exit: 'no_answer',
    milliseconds: 5000,
  });

  plays('leaves by refused for 404', {
    block: `
      call: { to: "101", caller_id: "100" }
      exits: { answered: end, busy: end, no_answer: end, refused: end }`,
    answered: false,
    script: { direction: 'outgoing', dialled: [{ after: 10, status: 404 }] },
    exit: 'refused',
  });

  plays('in mode provisional goes on when it rings, and is hung up with the run', {
    block: `
      call: { to: "101", caller_id: "100", mode: provisional }
      exits: { next: end, refused: end }`,
    answered: false,
    script: { direction: 'outgoing', dialled: [{ after: 10, status: 180 }] },
    exit: 'next',
    events: ['dial 101', 'hangup', 'ended by scenario: hangup'],
  });

  it('is cancelled with the run, and late answers still reach the trace', async () => {
    const { run, outcome } = await simulate(
      scenarioOf(
        `
        call: { to: "101", caller_id: "100" }
        exits: { answered: end, busy: end, no_answer: end, refused: end }`,
        false,
      ),
      { direction: 'outgoing', dialled: [{ after: 10, status: 180 }] },
      { during: (live, clock) => void clock.sleep(2000, new AbortController().signal).then(() => live.stop('enough')) },
    );
    expect(outcome).to.deep.include({ status: 'stopped', milliseconds: 2000 });
    expect(run.trace[0]?.answers?.map(({ at, party, line }) => `${at} ${party} ${line}`)).to.deep.equal([
      '10 101 SIP/2.0 180 Ringing',
      '2000 101 SIP/2.0 487 Request Terminated',
    ]);
  });

  it('mode finished waits for the end of the call, which is no hang-up for the scenario', async () => {
    const scenario = program(`id: f
parameters: { to: string }
start: ring
blocks:
  ring:
    call: { to: "\${to}", caller_id: "100", mode: finished }
    exits: { finished: after, refused: end }
  after: { report: { fields: { talked: "\${ring.milliseconds}" } }, next: end }
`);
    const simulation = await simulateFile(scenario, {
      components,
      args: { to: '102' },
      script: { phones: { 102: readPhone('answers, hangs up after 7s') ?? { answers: [] } } },
    });
    expect(simulation.outcome).to.deep.include({ status: 'completed', result: { talked: 7000 } });
  });
});
