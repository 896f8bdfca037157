/** The programs that `calls` compares: a node, and the bare program of bare-calls.ts. */
import { fileURLToPath } from 'node:url';
import { TestNode } from '../../support/node.ts';
import { freeTcpPort, freeUdpRange } from '../../support/ports.ts';
import type { Subject } from '../support/climb.ts';
import type { RealPair } from '../support/real-pair.ts';
import { ServerProcess } from '../support/server-process.ts';
import { SippPhones } from '../support/sipp-phones.ts';
import { SoundCalls } from './sound-calls.ts';

const BARE = fileURLToPath(new URL('./bare-server.ts', import.meta.url));
const RTP_PORTS = 2000;

/** A running program under the load of phones of its own: an overload of the other leaves messages to those. */
export interface Program extends Subject {
  /** `ip:port` of SIP. */
  readonly sip: string;
  readonly sound: SoundCalls;
  close(): Promise<void>;
}

/** Node's flags and settings of malloc. */
export interface Start {
  readonly flags: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/**
 * @param sipp path of SIPp
 * @param pair the servers; undefined for embedded ones
 */
export async function openNode(sipp: string, pair: RealPair | undefined): Promise<Program> {
  const [phones, rtp] = await Promise.all([SippPhones.open(sipp), freeUdpRange(RTP_PORTS)]);
  const node = await TestNode.start({
    embedded: pair === undefined,
    env: { RINGMASTER_RTP_PORTS: `${rtp.from}-${rtp.to}`, ...pair?.env },
  });
  try {
    const sip = pair?.sip ?? node.sip;
    const sound = await SoundCalls.open(sip);
    return {
      name: 'node',
      sip,
      sound,
      processes: { program: node.pid ?? 0, ...pair?.processes },
      prepare: () => phones.register(sip),
      call: (calls, rate) => phones.call(sip, { calls, rate }),
      close: async () => {
        await sound.close();
        await node.remove();
      },
    };
  } catch (error) {
    await node.remove();
    throw error;
  }
}

/** @param start as a node was started */
export async function openBare(sipp: string, pair: RealPair | undefined, start: Start): Promise<Program> {
  const [phones, http, rtp, sound] = await Promise.all([
    SippPhones.open(sipp),
    freeTcpPort(),
    freeUdpRange(RTP_PORTS),
    SoundCalls.open(),
  ]);
  const contacts = JSON.stringify({ 102: phones.contact, 103: sound.contact });
  const args = [...start.flags, BARE, String(http), contacts, String(rtp.from), String(rtp.to)];
  const server = await ServerProcess.start(args, http, { ...withoutServers(process.env), ...start.env, ...pair?.env });
  const sip = pair?.sip ?? server.sip;
  return {
    name: 'floor',
    sip,
    sound,
    processes: { program: server.pid, ...pair?.processes },
    prepare: async () => undefined,
    call: (calls, rate) => phones.call(sip, { calls, rate }),
    close: async () => {
      await sound.close();
      await server.stop();
    },
  };
}

function withoutServers({ RINGMASTER_DRACHTIO: _sip, RINGMASTER_FREESWITCH: _media, ...env }: NodeJS.ProcessEnv) {
  return env;
}
