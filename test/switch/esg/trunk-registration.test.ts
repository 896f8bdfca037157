import { expect } from 'chai';
import { mock } from 'node:test';
import { answer } from '../../../runtime/signalling/answers.ts';
import type { RegistrationOutcome } from '../../../runtime/signalling/registration.ts';
import { TrunkRegistration, type TrunkState } from '../../../runtime/switch/esg/trunk-registration.ts';
import { provider } from './support.ts';

/** A registrar with the given outcomes, one after the other. */
class Registrar {
  readonly asked: number[] = [];
  readonly states: TrunkState['state'][] = [];
  readonly errors: unknown[] = [];
  readonly trunk: TrunkRegistration;
  readonly #outcomes: (RegistrationOutcome | Error)[];

  constructor(...outcomes: (RegistrationOutcome | Error)[]) {
    this.#outcomes = outcomes;
    this.trunk = new TrunkRegistration(
      {
        registration: () => ({
          register: async (expires) => {
            this.asked.push(expires);
            const outcome = this.#outcomes.shift() ?? new Error('no outcome left');
            if (outcome instanceof Error) throw outcome;
            return outcome;
          },
        }),
        changed: (_provider, { state }, err) => {
          this.states.push(state);
          if (err !== undefined) this.errors.push(err);
        },
      },
      provider({ registerExpires: 600 }),
    );
  }

  /** Lets what was asked be answered. */
  async settle(): Promise<void> {
    for (let turn = 0; turn < 5; turn++) await Promise.resolve();
  }
}

const granted = (expires: number): RegistrationOutcome => ({ registered: true, expires });
const refused = (status: number): RegistrationOutcome => ({
  registered: false,
  answer: answer(status, undefined, false),
});

describe('a registration with a provider', () => {
  beforeEach(() => mock.timers.enable({ apis: ['setTimeout', 'Date'] }));
  afterEach(() => mock.timers.reset());

  it('is renewed after four fifths of the granted time', async () => {
    const registrar = new Registrar(granted(100), granted(100));
    registrar.trunk.start();
    await registrar.settle();
    expect(registrar.trunk.state).to.deep.equal({ state: 'registered', until: Date.now() + 100_000 });
    mock.timers.tick(79_999);
    expect(registrar.asked).to.deep.equal([600]);
    mock.timers.tick(1);
    await registrar.settle();
    expect(registrar.asked).to.deep.equal([600, 600]);
  });

  it('is retried after a refusal with growing delays, which a success resets', async () => {
    const registrar = new Registrar(refused(503), new Error('not connected'), granted(600), refused(503));
    registrar.trunk.start();
    await registrar.settle();
    expect(registrar.trunk.state.state).to.equal('failed');
    mock.timers.tick(5_000);
    await registrar.settle();
    expect(registrar.asked).to.have.length(2);
    expect(registrar.errors).to.have.length(1);
    mock.timers.tick(9_999);
    expect(registrar.asked).to.have.length(2);
    mock.timers.tick(1);
    await registrar.settle();
    expect(registrar.trunk.state.state).to.equal('registered');
    mock.timers.tick(480_000);
    await registrar.settle();
    expect(registrar.trunk.state).to.include({ state: 'failed', retryAt: Date.now() + 5_000 });
  });

  it('is removed at its end, even when its response is still pending', async () => {
    const registrar = new Registrar(granted(600), granted(0));
    registrar.trunk.start();
    await registrar.trunk.end();
    expect(registrar.asked).to.deep.equal([600, 0]);
    expect(registrar.states).to.deep.equal(['ended']);
  });

  it('that never succeeded is not removed', async () => {
    const registrar = new Registrar(refused(403));
    registrar.trunk.start();
    await registrar.settle();
    await registrar.trunk.end();
    mock.timers.tick(1_000_000);
    expect(registrar.asked).to.deep.equal([600]);
  });
});
