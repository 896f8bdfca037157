import { runSipp } from '../../phones/sipp.ts';
import { freeUdpRange } from '../../support/ports.ts';
import { type LoadResult, SippLoad } from './sipp-load.ts';

/** The demo data's domain. */
const DOMAIN = 'demo.local';

/** Default duration of a call, ms. */
const TALK_MS = 500;

/** Seconds in addition to the duration of the calls: a run without retransmissions ends long before. */
const GRACE_SECONDS = 10;

export interface Load {
  readonly calls: number;
  /** New calls per second. */
  readonly rate: number;
  /** Duration of each call, ms. */
  readonly talkMs?: number;
}

export interface LoadOutcome {
  readonly caller: LoadResult;
  readonly retransmissions: number;
  /** Every call succeeded, and no message was sent or received twice. */
  readonly clean: boolean;
}

/** Alice and bob of the demo data, played by SIPp: she calls, he answers at once, she hangs up. */
export class RegisteredPhones {
  readonly #sipp: string;
  readonly #server: string;
  readonly #port: number;

  private constructor(sipp: string, server: string, port: number) {
    this.#sipp = sipp;
    this.#server = server;
    this.#port = port;
  }

  /** @param server `ip:port` of the node's SIP */
  static async open(sipp: string, server: string): Promise<RegisteredPhones> {
    const { from } = await freeUdpRange(4);
    return new RegisteredPhones(sipp, server, from);
  }

  /** Registers both again, and makes the calls. */
  async call(load: Load): Promise<LoadOutcome> {
    await this.#register('alice', this.#port);
    await this.#register('bob', this.#port + 1);
    const bob = await SippLoad.start({
      program: this.#sipp,
      scenario: 'called',
      port: this.#port + 1,
      calls: load.calls,
      keys: { called: 'bob' },
      timeoutSeconds: secondsOf(load) + 2 * GRACE_SECONDS,
    });
    const alice = await answeredBy(this.#sipp, this.#server, this.#port, load);
    // When every call succeeded, the called party has ended too.
    const called = await bob.result(alice.caller.failed === 0 ? GRACE_SECONDS * 1000 : 0);
    const retransmissions = alice.retransmissions + called.retransmissions;
    return { ...alice, retransmissions, clean: alice.clean && retransmissions === 0 && called.failed === 0 };
  }

  async #register(login: string, port: number): Promise<void> {
    const result = await runSipp(this.#sipp, {
      scenario: 'register',
      server: this.#server,
      port,
      username: login,
      password: `demo-${login}`,
      keys: { domain: DOMAIN },
    });
    if (result.code !== 0) throw new Error(`${login} cannot register\n${result.errors}`);
  }
}

/** Calls the party that answers at `server`. @param port SIPp's own port */
export async function answeredBy(sipp: string, server: string, port: number, load: Load): Promise<LoadOutcome> {
  const { calls, rate, talkMs = TALK_MS } = load;
  const alice = await SippLoad.start({
    program: sipp,
    scenario: 'caller',
    server,
    port,
    calls,
    rate,
    talkMs,
    keys: { domain: DOMAIN, caller: 'alice', number: '102' },
    timeoutSeconds: secondsOf(load) + GRACE_SECONDS,
  });
  const caller = await alice.result((secondsOf(load) + 2 * GRACE_SECONDS) * 1000);
  const { retransmissions } = caller;
  return { caller, retransmissions, clean: caller.succeeded === calls && retransmissions === 0 };
}

function secondsOf({ calls, rate, talkMs = TALK_MS }: Load): number {
  return Math.ceil(calls / rate + talkMs / 1000);
}
