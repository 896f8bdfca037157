import { runSipp } from '../../phones/sipp.ts';
import { freeUdpRange } from '../../support/ports.ts';
import { type LoadResult, SippLoad } from './sipp-load.ts';

/** The demo data's domain. */
const DOMAIN = 'demo.local';

/** Default duration of a call, ms. */
const TALK_MS = 500;

/** Seconds in addition to the duration of the calls: a run without retransmissions ends long before. */
const GRACE_SECONDS = 5;

export interface Load {
  readonly calls: number;
  /** New calls per second. */
  readonly rate: number;
  /** Duration of each call, ms. */
  readonly talkMs?: number;
}

export interface LoadOutcome {
  /** Calls that SIPp made. */
  readonly calls: number;
  readonly caller: LoadResult;
  readonly retransmissions: number;
  /** Milliseconds from INVITE to the called phone's first sound, of other calls at the same time. */
  readonly soundTimes?: readonly number[];
  /** Every call succeeded, and no message was sent or received twice. */
  readonly clean: boolean;
}

/** Alice and bob of the demo data, played by SIPp: she calls 102, he answers at once, she hangs up. */
export class SippPhones {
  readonly #sipp: string;
  readonly #port: number;

  private constructor(sipp: string, port: number) {
    this.#sipp = sipp;
    this.#port = port;
  }

  /** @param sipp path of SIPp */
  static async open(sipp: string): Promise<SippPhones> {
    const { from } = await freeUdpRange(4);
    return new SippPhones(sipp, from);
  }

  /** Bob's contact, for a server that he cannot register with. */
  get contact(): string {
    return `sip:bob@127.0.0.1:${this.#port + 1}`;
  }

  /** Registers both for a minute. @param server `ip:port` */
  async register(server: string): Promise<void> {
    await this.#register(server, 'alice', this.#port);
    await this.#register(server, 'bob', this.#port + 1);
  }

  /**
   * Makes the calls.
   * @param server `ip:port`
   * @param scenario `overload`: a 503 is an answer too
   */
  async call(server: string, load: Load, scenario: 'caller' | 'overload' = 'caller'): Promise<LoadOutcome> {
    const { calls, rate, talkMs = TALK_MS } = load;
    const seconds = Math.ceil(calls / rate + talkMs / 1000);
    const bob = await SippLoad.start({
      program: this.#sipp,
      scenario: 'called',
      port: this.#port + 1,
      calls,
      keys: { called: 'bob' },
      timeoutSeconds: seconds + 2 * GRACE_SECONDS,
    });
    const alice = await SippLoad.start({
      program: this.#sipp,
      scenario,
      server,
      port: this.#port,
      calls,
      rate,
      talkMs,
      keys: { domain: DOMAIN, caller: 'alice', number: '102' },
      timeoutSeconds: seconds + GRACE_SECONDS,
    });
    const caller = await alice.result((seconds + 2 * GRACE_SECONDS) * 1000);
    // When every call succeeded, the called party has ended too; otherwise it takes what is still on its way to it.
    const called = await bob.result(scenario === 'overload' ? 0 : GRACE_SECONDS * 1000);
    const retransmissions = caller.retransmissions + called.retransmissions;
    const succeeded = caller.succeeded === calls && called.failed === 0;
    return { calls, caller, retransmissions, clean: succeeded && retransmissions === 0 };
  }

  async #register(server: string, login: string, port: number): Promise<void> {
    const result = await runSipp(this.#sipp, {
      scenario: 'register',
      server,
      port,
      username: login,
      password: `demo-${login}`,
      keys: { domain: DOMAIN },
    });
    if (result.code !== 0) throw new Error(`${login} cannot register\n${result.errors}`);
  }
}
