import { expect } from 'chai';
import { Phone } from '../../phones/phone.ts';
import type { RestClient } from '../../phones/rest-client.ts';
import type { TestNode } from '../../support/node.ts';

/** An account used by a single row of the table. */
export interface Account {
  readonly login: string;
  readonly number: string;
  /** `<sip:login@demo.local>` */
  readonly uri: string;
}

const PASSWORD = 'demo-outcome';
const DOMAIN = 'demo.local';

/** Makes separate accounts for each row, so that rows can run concurrently. */
export class Casting {
  readonly #node: TestNode;
  readonly #accounts: Account[] = [];

  constructor(node: TestNode) {
    this.#node = node;
  }

  /** Makes accounts in the domain, many in one request. */
  async make(rest: RestClient, count: number): Promise<void> {
    const accounts = Array.from({ length: count }, (_, index): Account => {
      const login = `p${index}`;
      return { login, number: String(20_000 + index), uri: `<sip:${login}@${DOMAIN}>` };
    });
    for (let from = 0; from < count; from += 200) {
      const body = accounts
        .slice(from, from + 200)
        .map(({ login, number }) => ({ login, phonenumber: number, pwd: PASSWORD }));
      const answer = await rest.send('POST', '/rest/v1/domain/sipusers', { body });
      expect(answer.status, answer.text).to.equal(200);
    }
    this.#accounts.push(...accounts);
  }

  /** An unused account. */
  next(): Account {
    const account = this.#accounts.shift();
    if (account === undefined) throw new Error('more accounts are needed than were made');
    return account;
  }

  /** A registered phone of an account. */
  async phone({ login }: Account): Promise<Phone> {
    const phone = await Phone.start({ login, domain: DOMAIN, password: PASSWORD, registrar: this.#node.sip });
    const { status } = await phone.register();
    if (status !== 200) throw new Error(`${login} cannot register: ${status}`);
    return phone;
  }
}
