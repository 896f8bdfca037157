import { expect } from 'chai';
import { Phone, type PhoneOptions } from '../phones/phone.ts';
import { RestClient } from '../phones/rest-client.ts';
import { Arrivals } from '../phones/wait.ts';
import type { TestNode } from '../support/node.ts';

const REST = '/rest/v1';

export interface ReceivedEvent {
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/**
 * In addition to demo.local, with its users and administrator: a domain below it (administrator `chief`), a user `guest` of
 * demo.local without a role, an unrelated domain (administrator `boss`; zoe has the number 101, yan 102), and the master
 * domain's administrator `root`. 7<number> calls from the other domain to demo.local, 6<number> the other way.
 */
export class TwoDomains {
  readonly clients: Readonly<Record<string, RestClient>>;
  readonly #node: TestNode;
  readonly #listening = new AbortController();

  private constructor(node: TestNode, clients: Readonly<Record<string, RestClient>>) {
    this.#node = node;
    this.clients = clients;
  }

  static async make(node: TestNode): Promise<TwoDomains> {
    const rest = await node.login('admin');
    const moved = await rest.send('PATCH', `${REST}/iam/sessions/current`, { body: { domain: 'master' } });
    expect(moved.status, moved.text).to.equal(200);
    const create = async (path: string, body: object): Promise<string> => {
      const answer = await rest.send('POST', `${REST}${path}`, { body });
      expect(answer.status, answer.text).to.equal(200);
      return answer.json<{ id: string }>().id;
    };
    const filter = encodeURIComponent('{"name":"demo.local"}');
    const [home] = (await rest.get(`${REST}/domain/domains?filter=${filter}`)).json<{ id: string }[]>();
    const other = await create('/domain/domains', { name: 'other.local' });
    const child = await create('/domain/domains', { name: 'sub.demo.local', parent_id: home?.id });
    const user = (domain: string, login: string, roles: readonly string[]) =>
      create('/iam/users', { domain_id: domain, login, name: login, pwd: `demo-${login}`, roles });
    await user(child, 'chief', ['admin']);
    await user(other, 'boss', ['admin']);
    if (home !== undefined) await user(home.id, 'guest', []);
    for (const [login, number] of [
      ['zoe', '101'],
      ['yan', '102'],
    ] as const) {
      const owner = await user(other, login, []);
      const account = { domain_id: other, login, phonenumber: number, pwd: `demo-${login}`, user_id: owner };
      await create('/domain/sipusers', account);
    }
    const target = (domain: string) => ({ type: 'domain', domain, strip: 1 });
    await create('/domain/routes', { domain_id: home?.id, to_pattern: '6%', target: target('other.local') });
    await create('/domain/routes', { domain_id: other, to_pattern: '7%', target: target('demo.local') });
    const login = (domain: string, name: string) =>
      RestClient.login(node.base, { domain, login: name, pwd: `demo-${name}` });
    return new TwoDomains(node, {
      root: rest,
      admin: await node.login('admin'),
      alice: await node.login('alice'),
      bob: await node.login('bob'),
      dave: await node.login('dave'),
      guest: await node.login('guest'),
      zoe: await login('other.local', 'zoe'),
      boss: await login('other.local', 'boss'),
      chief: await login('sub.demo.local', 'chief'),
    });
  }

  async sipUser(login: string): Promise<{ readonly id: string; readonly user_id: string }> {
    const answer = await this.clients['admin']?.get(`${REST}/domain/sipusers`, { filter: JSON.stringify({ login }) });
    const [found] = answer?.json<{ id: string; user_id: string }[]>() ?? [];
    if (found === undefined) throw new Error(`there is no ${login}`);
    return found;
  }

  zoe(registrar: string): PhoneOptions {
    return { login: 'zoe', domain: 'other.local', password: 'demo-zoe', registrar };
  }

  async zoesPhone(): Promise<Phone> {
    return this.foreignPhone('zoe');
  }

  /** A registered phone of other.local. */
  async foreignPhone(login: 'zoe' | 'yan'): Promise<Phone> {
    const phone = await Phone.start({ ...this.zoe(this.#node.sip), login, password: `demo-${login}` });
    expect((await phone.register()).status).to.equal(200);
    return phone;
  }

  /** Collects a user's Server-Sent Events from now on. */
  async events(who: string, names: readonly string[]): Promise<{ next(): Promise<ReceivedEvent> }> {
    const { authorization = '' } = this.clients[who]?.authorization ?? {};
    const response = await fetch(`${this.#node.base}${REST}/api/events?events=${names.join(',')}`, {
      headers: { authorization },
      signal: this.#listening.signal,
    });
    expect(response.status).to.equal(200);
    const received = new Arrivals<ReceivedEvent>(`event for ${who}`);
    void this.#read(response, received).catch(() => undefined);
    return { next: () => received.next(3000) };
  }

  stopListening(): void {
    this.#listening.abort();
  }

  async #read(response: Response, received: Arrivals<ReceivedEvent>): Promise<void> {
    let left = '';
    for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      const blocks = (left + chunk).split('\n\n');
      left = blocks.pop() ?? '';
      for (const block of blocks) {
        const text = /^data: (.*)$/m.exec(block)?.[1];
        const event = text === undefined ? undefined : (JSON.parse(text) as Partial<ReceivedEvent>);
        if (event?.type !== undefined && event.data !== undefined)
          received.push({ type: event.type, data: event.data });
      }
    }
  }
}
