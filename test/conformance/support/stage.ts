import { expect } from 'chai';
import type { Protocol } from '../../phones/sip/transport.ts';
import { Arrivals } from '../../phones/wait.ts';
import { Agent } from './agent.ts';
import { connectRoutedApp } from './routed-app.ts';
import { type Held, sipServer } from './servers.ts';
import type { App, Dialog, Request, Response, Srf } from './srf.ts';
import { sdp } from './sdp.ts';

/** A request received by the application. */
export interface Incoming {
  readonly request: Request;
  readonly response: Response;
}

/**
 * The surroundings of a SIP server test: the server and one drachtio-srf application for the file, far ends for each
 * test. A far end that saw a violation of RFC 3261 fails the test.
 */
export class SipStage {
  readonly #incoming = new Map<string, Arrivals<Incoming>>();
  #agents: Agent[] = [];
  #server: Held | undefined;
  #app: App | undefined;

  async open(methods: readonly string[], options: { secure?: boolean; ipv6?: boolean } = {}): Promise<void> {
    this.#server = await sipServer(options);
    this.#app = await connectRoutedApp(this.#server.address, (srf) => {
      for (const method of methods) {
        const arrivals = new Arrivals<Incoming>(`${method} at the application`);
        this.#incoming.set(method, arrivals);
        srf.use(method, (request, response) => arrivals.push({ request, response }));
      }
    });
  }

  get srf(): Srf {
    return this.#running().srf;
  }

  /** `sip:service@ip:port`, the server by UDP. */
  get target(): string {
    return `sip:service@${this.#running().sip}`;
  }

  get tcpTarget(): string {
    return `sip:service@${this.#running().tcp};transport=tcp`;
  }

  /** `ip:port` of the server's listener of a transport; undefined when it has none. */
  listener(protocol: string, ipv6 = false): string | undefined {
    return this.#running().listener(protocol, ipv6);
  }

  get hostPort(): string {
    return this.#running().sip;
  }

  get server(): Held {
    if (this.#server === undefined) throw new Error('the stage is not open');
    return this.#server;
  }

  /** The next request of this method at the application. */
  async incoming(method: string, withinMs = 3000): Promise<Incoming> {
    const arrivals = this.#incoming.get(method);
    if (arrivals === undefined) throw new Error(`no route for ${method}`);
    return arrivals.next(withinMs);
  }

  /** For TLS and WebSockets, one that has connected to the server. */
  async agent(protocol: Protocol = 'udp'): Promise<Agent> {
    const address = this.listener(protocol) ?? '';
    const server = protocol === 'tls' ? address : `${protocol}://${address}`;
    const agent = await Agent.open(protocol, { server, ca: 'any' });
    this.#agents.push(agent);
    return agent;
  }

  /** A far end on ::1. */
  async agentOnIpv6(protocol: 'udp' | 'tcp'): Promise<Agent> {
    const agent = await Agent.open(protocol, undefined, '::1');
    this.#agents.push(agent);
    return agent;
  }

  /** An agent calls and the application answers; both ends of the dialog. */
  async answeredCall(agent: Agent, headers: Record<string, string> = {}) {
    const calling = agent.call(this.target);
    const { request, response } = await this.incoming('invite');
    const dialog = await this.srf.createUAS(request, response, { localSdp: sdp(20_000), headers });
    return { app: dialog, far: (await calling).dialog };
  }

  /** The application calls an agent that answers; both ends of the dialog. */
  async madeCall(agent: Agent): Promise<{ app: Dialog; far: Awaited<ReturnType<Agent['answer']>>['dialog'] }> {
    const making = this.srf.createUAC(agent.uri, { localSdp: sdp(20_000) });
    const { dialog } = await agent.answer(await agent.request('INVITE'));
    return { app: await making, far: dialog };
  }

  async clear(): Promise<void> {
    const agents = this.#agents;
    this.#agents = [];
    const violations = agents.flatMap((agent) => [...agent.violations]);
    for (const agent of agents) await agent.close();
    expect(violations, 'violations of RFC 3261 seen by the far ends').to.deep.equal([]);
  }

  async close(): Promise<void> {
    this.#app?.close();
    await this.#server?.close();
  }

  #running(): App {
    if (this.#app === undefined) throw new Error('the stage is not open');
    return this.#app;
  }
}

/**
 * Prepares the stage for the tests of a `describe`; the application takes these methods.
 * @param secure the server takes TLS and WebSockets too
 * @param ipv6 the server has ::1 too
 */
export function useSipStage(
  methods: readonly string[] = ['invite', 'options'],
  secure = false,
  ipv6 = false,
): SipStage {
  const stage = new SipStage();
  before('connect an application', () => stage.open(methods, { secure, ipv6 }));
  afterEach('no violations', () => stage.clear());
  after('disconnect', () => stage.close());
  return stage;
}
