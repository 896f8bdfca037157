import { expect } from 'chai';
import { mock } from 'node:test';
import { answer } from '../../../runtime/signalling/answers.ts';
import type { RegistrationOutcome } from '../../../runtime/signalling/registration.ts';
import { TrunkRegistration, type TrunkState } from '../../../runtime/switch/esg/trunk-registration.ts';
import { provider } from './support.ts';

/** A registrar with the given outcomes, one after the other. */
class Registrar {
  static node = 'here:/data';
  readonly asked: number[] = [];
  readonly states: TrunkState['state'][] = [];
  readonly errors: unknown[] = [];
  readonly trunk: TrunkRegistration;
  readonly #outcomes: (RegistrationOutcome | Error)[];

  instance: string | undefined;

  constructor(...outcomes: (RegistrationOutcome | Error)[]) {
    this.#outcomes = outcomes;
    this.trunk = new TrunkRegistration(
      {
        node: Registrar.node,
        contactUser: 'us',
        registration: (asked) => {
          this.instance = asked.instance;
          return {
            register: async (expires) => {
              this.asked.push(expires);
              const outcome = this.#outcomes.shift() ?? new Error('no outcome left');
              if (outcome instanceof Error) throw outcome;
              return outcome;
            },
          };
        },
        changed: (_provider, { state }, err) => {
          this.states.push(state);
          if (err !== undefined) this.errors.push(err);
        },
      },
      provider({ registerExpires: 600, transport: 'tcp' }),
    );
  }

  /** Lets what was asked be answered. */
  async settle(): Promise<void> {
    for (let turn = 0; turn < 5; turn++) await Promise.resolve();
  }
}

const FROM = { address: '192.0.2.1', port: 5060 };
const granted = (expires: number): RegistrationOutcome => ({ registered: true, expires, from: FROM });
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

  it('is renewed when its connection is lost, at most every second', async () => {
    const registrar = new Registrar(granted(600), granted(600), granted(600));
    registrar.trunk.start();
    await registrar.settle();
    registrar.trunk.connectionLost({ ...FROM, port: 5061 });
    mock.timers.tick(10_000);
    expect(registrar.asked, 'after the end of another connection').to.have.length(1);
    registrar.trunk.connectionLost(FROM);
    mock.timers.tick(1);
    await registrar.settle();
    expect(registrar.asked).to.have.length(2);
    registrar.trunk.connectionLost(FROM);
    mock.timers.tick(998);
    expect(registrar.asked).to.have.length(2);
    mock.timers.tick(2);
    await registrar.settle();
    expect(registrar.asked).to.have.length(3);
    mock.timers.tick(479_999);
    expect(registrar.asked, 'no second timer').to.have.length(3);
  });

  it('has another instance at each node, and the same one after a restart', () => {
    const of = (node: string): string | undefined => {
      Registrar.node = node;
      const { instance } = new Registrar();
      Registrar.node = 'here:/data';
      return instance;
    };
    expect(of('here:/one'))
      .to.match(/^urn:uuid:[\da-f-]{36}$/)
      .and.equal(of('here:/one'));
    expect(of('here:/one')).not.to.equal(of('here:/two'));
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
