import { writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { EventEmitter } from 'node:events';
import {
  type EmbeddedServer,
  type MediaServerOptions,
  type MediaServerStats,
  startMediaServer,
} from '../../../../runtime/embedded/index.ts';
import { wavHeader } from '../../../../runtime/wav/index.ts';
import { Nursery, programRunner } from '../../../../runtime/processes/index.ts';
import { freeUdpRange } from '../../../support/ports.ts';
import { disposableFolder } from '../../../support/temporary-folder.ts';
import { type MiniDialog, MiniSrf } from './mini-srf.ts';

const require = createRequire(import.meta.url);

/** The part of drachtio-fsmrf's endpoint that the tests use. */
export interface Endpoint extends EventEmitter {
  readonly uuid: string;
  readonly connected: boolean;
  readonly dialog: MiniDialog;
  readonly local: { sdp: string; mediaIp: string; mediaPort: string };
  readonly remote: { sdp: string; mediaIp: string; mediaPort: string };
  readonly dtmfType: string;
  readonly sip: { callId: string };
  readonly conf: { memberId?: number; name?: string; uuid?: string };
  play(
    file: unknown,
  ): Promise<{ playbackSeconds: string; playbackMilliseconds: string; playbackLastOffsetPos: string }>;
  playCollect(
    options: Record<string, unknown>,
  ): Promise<{ digits: string | null; invalidDigits: string | null; terminatorUsed: string | null }>;
  execute(application: string, argument?: string): Promise<EslReply>;
  executeAsync(application: string, argument: string, callback: (event: EslReply) => void): string;
  api(command: string, argument?: string | string[]): Promise<EslReply>;
  bridge(other: Endpoint): Promise<void>;
  unbridge(): Promise<void>;
  modify(sdp: string): Promise<string>;
  destroy(): Promise<void>;
  set(name: string | Record<string, string>, value?: string): Promise<void>;
  export(name: string, value: string): Promise<void>;
  getChannelVariables(includeMedia?: boolean): Promise<Record<string, string | number>>;
  mute(): Promise<unknown>;
  unmute(): Promise<unknown>;
  join(name: unknown, options?: Record<string, unknown>): Promise<{ memberId: number; confUuid: string }>;
  record(file: string, options?: Record<string, unknown>): Promise<Record<string, string>>;
  recordSession(file: string): Promise<EslReply>;
  say(text: string, options: Record<string, string>): Promise<unknown>;
  speak(options: Record<string, string>): Promise<unknown>;
  transfer(name: string): Promise<string>;
  confMute(): Promise<unknown>;
  confUnmute(): Promise<unknown>;
  confDeaf(): Promise<unknown>;
  confUndeaf(): Promise<unknown>;
  confKick(): Promise<unknown>;
  confHup(): Promise<unknown>;
  confPlay(file: string): Promise<unknown>;
}

/** An event or response as drachtio-modesl presents it. */
export interface EslReply {
  getHeader(name: string): string | null;
  getBody(): string;
}

/** drachtio-fsmrf's conference. */
export interface Conference extends EventEmitter {
  readonly name: string;
  readonly uuid: string;
  readonly memberId: number;
  readonly endpoint: Endpoint;
  readonly participants: Map<number, unknown>;
  destroy(): Promise<void>;
  getSize(): Promise<number>;
  list(argument?: string): Promise<EslReply>;
  play(file: string | string[]): Promise<{ seconds: number; milliseconds: number; samples: number }>;
  [operation: string]: unknown;
}

/** drachtio-fsmrf's media server. */
export interface MediaServerClient extends EventEmitter {
  readonly sip: { ipv4: { udp: { address: string } } };
  readonly maxSessions: number;
  readonly currentSessions: number;
  api(command: string): Promise<string>;
  createEndpoint(options?: Record<string, unknown>): Promise<Endpoint>;
  createConference(name: string, options?: Record<string, unknown>): Promise<Conference>;
  disconnect(): void;
}

interface Mrf {
  connect(options: Record<string, unknown>): Promise<MediaServerClient>;
}

const MrfClass = require('drachtio-fsmrf') as new (srf: object, options?: Record<string, unknown>) => Mrf;

/** A media server, a SIP side, and drachtio-fsmrf connected to both. */
export interface Bench {
  readonly server: EmbeddedServer<MediaServerStats>;
  readonly srf: MiniSrf;
  readonly ms: MediaServerClient;
  readonly directory: string;
  /** Writes a WAV file with a tone into the sounds directory; returns its name. */
  tone(name: string, milliseconds: number, frequency: number): Promise<string>;
  /** @param agent calls the server; by default `srf` */
  connectAnother(options?: Record<string, unknown>, agent?: object): Promise<MediaServerClient>;
  /** Resolves when no channel, RTP socket, SIP dialog, conference or outbound connection is left. */
  settled(): Promise<void>;
  close(): Promise<void>;
}

export const PASSWORD = 'ClueCon';

/** Starts everything on free ports of the loopback interface. */
export async function startBench(overrides: Partial<MediaServerOptions> = {}): Promise<Bench> {
  const folder = await disposableFolder();
  const directory = folder.path;
  const nursery = new Nursery();
  const serverOptions = {
    eventSocket: '127.0.0.1:0',
    password: PASSWORD,
    media: '127.0.0.1:0',
    profile: 'drachtio_mrf',
    rtpPorts: await freeUdpRange(1000),
    sounds: directory,
    recordings: directory,
    ...overrides,
  };
  const server = await startMediaServer(serverOptions, { run: programRunner(nursery) });
  const srf = await MiniSrf.start();
  const clients: MediaServerClient[] = [];
  const connectAnother = async (
    options: Record<string, unknown> = {},
    agent: object = srf,
  ): Promise<MediaServerClient> => {
    const [address, port] = (server.addresses['eventSocket'] as string).split(':');
    const mrf = new MrfClass(agent);
    const ms = await mrf.connect({
      address,
      port: Number(port),
      secret: PASSWORD,
      listenAddress: '127.0.0.1',
      ...options,
    });
    clients.push(ms);
    return ms;
  };
  const ms = await connectAnother();
  return {
    server,
    srf,
    ms,
    directory,
    connectAnother,
    async settled() {
      const end = performance.now() + 2000;
      for (;;) {
        const stats = await server.stats();
        const { channels, rtpSockets, sipDialogs, conferences, eventSockets } = stats;
        if (channels + rtpSockets + sipDialogs + conferences === 0 && eventSockets === clients.length) return;
        if (performance.now() > end) throw new Error(`left behind: ${JSON.stringify(stats)}`);
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    },
    async tone(name, milliseconds, frequency) {
      const samples = milliseconds * 8;
      const data = Buffer.alloc(samples * 2);
      for (let index = 0; index < samples; index += 1) {
        data.writeInt16LE(Math.round(8000 * Math.sin((2 * Math.PI * frequency * index) / 8000)), index * 2);
      }
      await writeFile(join(directory, name), Buffer.concat([wavHeader(samples), data]));
      return name;
    },
    async close() {
      for (const client of clients) client.disconnect();
      await server.close();
      nursery.close();
      await srf.close();
      await folder.remove();
    },
  };
}
