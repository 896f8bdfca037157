/**
 * The surroundings of an end-to-end test: one node for all files, and phones and sessions for each test. Every test fails
 * when a phone saw a violation of SIP, SDP or RTP, or when a dialog is left.
 */
import { expect } from 'chai';
import type { OutgoingCall } from '../phones/outgoing-call.ts';
import type { IncomingCall } from '../phones/incoming-call.ts';
import { Phone, type PhoneOptions } from '../phones/phone.ts';
import type { RestAnswer, RestClient } from '../phones/rest-client.ts';
import type { Dialog } from './dialog.ts';
import { eventually } from './eventually.ts';
import { TestNode } from './node.ts';
import { REAL_SIP, unexplained } from './real-servers.ts';

export const CALLS = '/rest/v1/uc/calls';

/** Phone numbers of the demo accounts. */
export const NUMBERS = { alice: '101', bob: '102', carol: '103', dave: '104' } as const;
export type Login = keyof typeof NUMBERS;

let shared: Promise<TestNode> | undefined;

after('stop the shared node', removeShared);

async function removeShared(): Promise<void> {
  const node = shared;
  shared = undefined;
  if (node !== undefined) await (await node).remove();
}

export interface Connected {
  readonly outgoing: OutgoingCall;
  readonly incoming: IncomingCall;
}

export class Stage {
  #node: TestNode | undefined;
  #phones: Phone[] = [];
  readonly #clients = new Map<string, RestClient>();

  get node(): TestNode {
    if (this.#node === undefined) throw new Error('the stage is not set yet');
    return this.#node;
  }

  async set(ownNode: boolean, env: Readonly<Record<string, string>> = {}): Promise<void> {
    if (ownNode) {
      // A real drachtio-server would divide calls between two nodes. Tests with nodes of their own come last in a file.
      if (REAL_SIP) await removeShared();
      this.#node = await TestNode.start({ env });
      return;
    }
    shared ??= TestNode.start();
    this.#node = await shared;
  }

  /** A phone of a demo account, registered unless `unregistered`. */
  async phone(login: Login, options: Partial<PhoneOptions> & { unregistered?: boolean } = {}): Promise<Phone> {
    const phone = await Phone.start({
      login,
      domain: 'demo.local',
      password: `demo-${login}`,
      registrar: this.node.sip,
      ...options,
    });
    this.#phones.push(phone);
    if (options.unregistered !== true) {
      const result = await phone.register();
      if (result.status !== 200) throw new Error(`${login} cannot register: ${result.status} ${result.reason}`);
    }
    return phone;
  }

  async phones<const L extends readonly Login[]>(...logins: L): Promise<{ [K in keyof L]: Phone }> {
    const phones: Phone[] = [];
    for (const login of logins) phones.push(await this.phone(login));
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- one phone for each login, in order
    return phones as { [K in keyof L]: Phone };
  }

  /** The session of a demo user, opened once. */
  async rest(login = 'admin'): Promise<RestClient> {
    const known = this.#clients.get(login);
    if (known !== undefined) return known;
    const client = await this.node.login(login);
    this.#clients.set(login, client);
    return client;
  }

  /** `from` calls `target`, a number or login of `to`, which rings and answers. */
  async connect(from: Phone, to: Phone, target: string): Promise<Connected> {
    const outgoing = await from.call(target);
    const incoming = await to.incoming();
    incoming.ring();
    await outgoing.ringing();
    await incoming.answer();
    await outgoing.answered();
    return { outgoing, incoming };
  }

  /** The live dialogs in the REST list of the administrator. */
  async dialogs(): Promise<Dialog[]> {
    const answer = await (await this.rest()).get(CALLS);
    expect(answer.status, answer.text).to.equal(200);
    return answer.json<Dialog[]>();
  }

  /** The only live dialog. */
  async dialog(): Promise<Dialog> {
    const [dialog, ...others] = await this.dialogs();
    expect(others, 'more than one dialog').to.have.length(0);
    if (dialog === undefined) throw new Error('no dialog in the list');
    return dialog;
  }

  /** An operation on the collection of calls. Started calls continue after the answer. */
  async operate(method: string, body: unknown, login = 'admin'): Promise<RestAnswer> {
    return (await this.rest(login)).send(method, CALLS, { body });
  }

  /** Waits until no dialog is left. */
  async expectNoDialog(): Promise<void> {
    await eventually(async () => expect(await this.dialogs(), 'dialogs left over').to.deep.equal([]));
  }

  /** Ends the phones and sessions of the test; returns the violations seen by the phones. */
  async clear(): Promise<string[]> {
    const phones = this.#phones;
    this.#phones = [];
    const violations: string[] = [];
    for (const phone of phones) {
      await phone.stop();
      violations.push(...phone.violations.map((what) => `${phone.login}: ${what}`));
    }
    if (phones.some(({ isLeftRegistered }) => isLeftRegistered)) await this.#forget(phones);
    return unexplained(violations);
  }

  /** Phones that stopped abruptly are still registered, and later tests would ring them. */
  async #forget(phones: readonly Phone[]): Promise<void> {
    const rest = await this.rest();
    const known = (await rest.get('/rest/v1/domain/registrations')).json<{ id: string; contact: string }[]>();
    for (const { id } of known.filter(({ contact }) => phones.some((phone) => phone.contact === contact)))
      await rest.send('DELETE', `/rest/v1/domain/registrations/${id}`);
  }

  async close(ownNode: boolean): Promise<void> {
    for (const client of this.#clients.values()) client.close();
    this.#clients.clear();
    if (ownNode) await this.#node?.remove();
  }

  traces(): string {
    const lines = this.#phones.flatMap((phone) => [`--- ${phone.login} ${phone.contact}`, ...phone.trace().slice(-60)]);
    return lines.join('\n');
  }
}

type Env = Readonly<Record<string, string>>;

/**
 * Prepares the stage for the tests of a `describe`.
 * @param options.ownNode a new node instead of the shared one, for tests that count its live objects
 * @param options.env settings of a new node; a function is called at its start
 */
export function useStage(options: { ownNode?: boolean; env?: Env | (() => Promise<Env>) } = {}): Stage {
  const ownNode = options.ownNode === true || options.env !== undefined;
  const stage = new Stage();
  before('start a node', async function () {
    this.timeout(90_000);
    await stage.set(ownNode, typeof options.env === 'function' ? await options.env() : options.env);
  });
  afterEach('leave nothing behind', async function () {
    const traces = stage.traces();
    const error = this.currentTest?.err;
    // Reporters print the stack, which contains the original message.
    if (error !== undefined)
      error.stack = `${error.stack ?? error.message}\n${traces}\n${stage.node.output.slice(-4000)}`;
    const violations = await stage.clear();
    await stage.expectNoDialog();
    expect(violations, traces).to.deep.equal([]);
  });
  after('close the sessions', () => stage.close(ownNode));
  return stage;
}
