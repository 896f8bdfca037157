/** The servers of a node: embedded ones, started here, or the real ones from the configuration. */
import { randomBytes } from 'node:crypto';
import { isIPv4 } from 'node:net';
import { join } from 'node:path';
import type { Logger } from 'pino';
import type { Config, ServerAddress } from '../config/index.ts';
import { CallGate, type LostConnection, MediaAgent, startMediaServer, startSipServer } from '../embedded/index.ts';
import { MEMORY_MODULE } from '../memory/index.ts';
import { type Nursery, programRunner } from '../processes/index.ts';
import { type LiveCertificate, openTrust } from './certificate.ts';
import { SCENARIOS } from './project.ts';
import { type Opened, opening, type Shutdown } from './shutdown.ts';

/** Profile of the media server that endpoints are made on. */
export const PROFILE = 'drachtio_mrf';
const SOUNDS = join(SCENARIOS, 'examples', 'prompts');

/** Servers to connect to. Embedded ones are ready at once; others may still be starting. */
export interface Targets {
  readonly addresses: readonly ServerAddress[];
  readonly patienceMs: number;
}

/** The listener of the embedded SIP server for WebSockets that the HTTP server passes on. */
export interface ForwardedWebSockets {
  readonly port: number;
  readonly secret: string;
}

export interface Servers {
  readonly sip: Targets;
  readonly media: Targets;
  /** Calls the embedded media server; undefined with a real one, which a SIP server calls. */
  readonly mediaAgent: MediaAgent | undefined;
  /** Undefined with a real SIP server. */
  readonly forwarded: ForwardedWebSockets | undefined;
  /** New calls pass it; undefined with a real SIP server. */
  readonly gate: CallGate | undefined;
  /** Sets what is called when a connection that this node registered over has ended; never with a real SIP server. */
  onConnectionLost(listener: (connection: LostConnection) => void): void;
  stats(): Promise<Record<string, number>>;
}

/**
 * @param certificate for TLS of the embedded SIP server, if there is one
 * @param nursery starts programs for them
 * @param exited called when an embedded server ends by itself
 * @throws ListenError for a taken port
 */
export function openServers(
  config: Config,
  certificate: LiveCertificate | undefined,
  nursery: Nursery,
  log: Logger,
  exited: (error: Error) => void,
): Promise<Opened<Servers>> {
  return opening(log, async (shutdown) => {
    let lost: (connection: LostConnection) => void = () => undefined;
    const reports = { exited, lost: (connection: LostConnection) => lost(connection) };
    const startingSip =
      config.drachtio.length === 0 ? startEmbeddedSip(config, certificate, shutdown, log, reports) : undefined;
    const startingMedia =
      config.freeswitch.length === 0 ? startEmbeddedMedia(config, shutdown, nursery, exited) : undefined;
    await Promise.allSettled([startingSip, startingMedia]);
    const sip = await startingSip;
    const media = await startingMedia;
    return {
      sip: targets(config.drachtio, sip?.address),
      media: targets(config.freeswitch, media?.address),
      mediaAgent: media?.agent,
      forwarded: sip?.forwarded,
      gate: sip?.gate,
      onConnectionLost: (listener) => {
        lost = listener;
      },
      stats: async () => ({
        ...prefixed('sip_', (await sip?.server.stats()) ?? {}),
        ...prefixed('media_', (await media?.server.stats()) ?? {}),
      }),
    };
  });
}

function targets(real: readonly ServerAddress[], own: ServerAddress | undefined): Targets {
  return own === undefined ? { addresses: real, patienceMs: 60_000 } : { addresses: [own], patienceMs: 5000 };
}

async function startEmbeddedSip(
  config: Config,
  certificate: LiveCertificate | undefined,
  shutdown: Shutdown,
  log: Logger,
  { exited, lost }: { exited: (error: Error) => void; lost: (connection: LostConnection) => void },
) {
  const secret = randomBytes(16).toString('hex');
  const { sip, tls, webSocket, publicAddresses } = config;
  const at = (port: number) => sip.hosts.map((host) => atPort(host, port));
  const forwarded = { secret: randomBytes(16).toString('hex'), host: sip.hosts[0] as string };
  const gate = new CallGate();
  const trust = await openTrust(config, log);
  shutdown.add('TLS trust', () => trust.close());
  const server = await startSipServer(
    {
      gate: gate.memory,
      app: '127.0.0.1:0',
      secret,
      sip: at(sip.port),
      towardsMedia: true,
      publicAddresses,
      ...(tls !== undefined && certificate !== undefined
        ? { tls: at(tls.sipPort), certificate: certificate.current }
        : {}),
      trust: trust.current,
      ...(webSocket.port === undefined ? {} : { [certificate === undefined ? 'ws' : 'wss']: at(webSocket.port) }),
      origins: webSocket.origins,
      forwarded,
    },
    { atRest: MEMORY_MODULE, notice: (message, details) => log.info(details, message), lost },
  );
  shutdown.add('SIP server', () => server.close());
  certificate?.onChange((changed) => server.reconfigure({ certificate: changed }));
  trust.onChange((changed) => server.reconfigure({ trust: changed }));
  void server.exited.then((error) => exited(error ?? new Error('the embedded SIP server ended')));
  const { port } = hostPort(server.addresses.forwarded ?? '');
  return {
    server,
    gate,
    address: { ...hostPort(server.addresses.app ?? ''), secret },
    forwarded: { port, secret: forwarded.secret },
  };
}

async function startEmbeddedMedia(
  config: Config,
  shutdown: Shutdown,
  nursery: Nursery,
  exited: (error: Error) => void,
) {
  const secret = randomBytes(16).toString('hex');
  const agent = new MediaAgent();
  const server = await startMediaServer(
    {
      eventSocket: '127.0.0.1:0',
      password: secret,
      media: `${signallingHost(config)}:0`,
      rtpHosts: config.sip.hosts,
      publicAddresses: config.publicAddresses,
      profile: PROFILE,
      rtpPorts: config.rtpPorts,
      sounds: SOUNDS,
      recordings: join(config.dataDir, 'recordings'),
      direct: agent.port,
    },
    { run: programRunner(nursery), atRest: MEMORY_MODULE },
  );
  shutdown.add('media server', () => server.close());
  void server.exited.then((error) => exited(error ?? new Error('the embedded media server ended')));
  return { server, agent, address: { ...hostPort(server.addresses.eventSocket ?? ''), secret } };
}

/**
 * The IPv4 address at which the media server is called, as drachtio-fsmrf calls no other: this machine's own, unless a real SIP server
 * elsewhere calls it.
 */
function signallingHost({ sip, drachtio }: Config): string {
  const own = sip.hosts.find((host) => isIPv4(host));
  return own === undefined || (own === '0.0.0.0' && drachtio.length === 0) ? '127.0.0.1' : own;
}

function atPort(host: string, port: number): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

function hostPort(address: string): { host: string; port: number } {
  const colon = address.lastIndexOf(':');
  return { host: address.slice(0, colon), port: Number(address.slice(colon + 1)) };
}

/** Figures by flat name: `media_rtpSockets`, `media_media_packetsLate`. */
function prefixed(prefix: string, stats: object): Record<string, number> {
  const flat: Record<string, number> = {};
  for (const [name, value] of Object.entries(stats) as [string, unknown][]) {
    if (typeof value === 'number') flat[prefix + name] = value;
    else if (typeof value === 'object' && value !== null) Object.assign(flat, prefixed(`${prefix}${name}_`, value));
  }
  return flat;
}
