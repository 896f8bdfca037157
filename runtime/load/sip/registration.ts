/** Registers the phones of a load. */
import type { Account } from '../plan.ts';
import type { SipAgent } from './agent.ts';

/** Short, because a killed load leaves its contacts behind; renewed in time. */
const EXPIRES_S = 600;

/** Registrar's answer: a SIP status, or why none came. */
export interface Registered {
  readonly login: string;
  /** Undefined without an answer. */
  readonly status: number | undefined;
  readonly reason: string;
  /** Seconds granted. */
  readonly expires: number;
}

/** Sends REGISTER. @param expires 0 to end the registration */
export function register(agent: SipAgent, account: Account, expires: number = EXPIRES_S): Promise<Registered> {
  const { login } = account;
  const address = agent.uriOf(login);
  return new Promise((resolve) => {
    agent.send('REGISTER', agent.registrar, account, address, (request) => request.add('Expires', String(expires)), {
      final: (response) => {
        const own = response.values('contact').find((contact) => contact.includes(agent.contactOf(login)));
        const granted = Number(/;\s*expires=(\d+)/i.exec(own ?? '')?.[1] ?? response.header('expires') ?? expires);
        resolve({ login, status: response.status, reason: response.reason, expires: granted });
      },
      failed: (reason) => resolve({ login, status: undefined, reason, expires: 0 }),
    });
  });
}

/** Keeps phones registered. */
export class Registrations {
  readonly #agent: SipAgent;
  readonly #accounts: readonly Account[];
  readonly #timers = new Map<string, NodeJS.Timeout>();

  constructor(agent: SipAgent, accounts: readonly Account[]) {
    this.#agent = agent;
    this.#accounts = accounts;
  }

  /** Registers all. @returns the refusals */
  async open(): Promise<Registered[]> {
    const answers = await Promise.all(this.#accounts.map((account) => this.#register(account)));
    return answers.filter(({ status }) => status !== 200);
  }

  /** Ends the registrations. */
  async close(): Promise<void> {
    for (const timer of this.#timers.values()) clearTimeout(timer);
    const registered = this.#accounts.filter(({ login }) => this.#timers.has(login));
    await Promise.all(registered.map((account) => register(this.#agent, account, 0)));
  }

  async #register(account: Account): Promise<Registered> {
    const answer = await register(this.#agent, account);
    if (answer.status === 200) {
      const again = Math.max(10, answer.expires * 0.8) * 1000;
      this.#timers.set(
        account.login,
        setTimeout(() => void this.#register(account), again),
      );
    }
    return answer;
  }
}
