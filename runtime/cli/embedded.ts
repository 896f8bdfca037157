import process from 'node:process';
import { parseArgs } from 'node:util';
import { listeningHosts, publicAddressesOf } from '../config/index.ts';
import {
  type EmbeddedServer,
  type MediaServerOptions,
  type SipServerOptions,
  startMediaServer,
  startSipServer,
} from '../embedded/index.ts';
import { MEMORY_MODULE } from '../memory/index.ts';
import { Nursery, programRunner } from '../processes/index.ts';
import { STOP_SIGNALS } from './signals.ts';

const USAGE = `ringmaster embedded: the embedded servers alone, for programs that use drachtio-srf or drachtio-fsmrf

  SIP server (drachtio's app protocol)
    --app ip:port            address for connections of applications
    --secret S               their password
    --sip ip:port            SIP over UDP and TCP; may be given several times
  media server (FreeSWITCH's event socket)
    --event-socket ip:port   address for connections of applications
    --password P             their password
    --media ip:port          SIP address of the profile, IPv4; RTP uses the same host
    --rtp-host ADDRESS       address of RTP instead, IPv4 or IPv6; may be given several times
    --callers ADDRESS        allowed source of calls, or any; may be given several times; default this machine
    --profile NAME           default drachtio_mrf
    --rtp-ports A-B          default 20000-20999
    --sounds DIR             folder of relative sound files; default the current folder
    --recordings DIR         folder of relative recordings; default the current folder

  both
    --public-address ADDRESS  told to far ends outside, behind a NAT; one of IPv4, one of IPv6

A server without any of its options is not started. Port 0 takes a free port; the addresses are printed.
`;

const OPTIONS = {
  app: { type: 'string' },
  secret: { type: 'string' },
  sip: { type: 'string', multiple: true },
  'event-socket': { type: 'string' },
  password: { type: 'string' },
  media: { type: 'string' },
  callers: { type: 'string', multiple: true },
  'rtp-host': { type: 'string', multiple: true },
  'public-address': { type: 'string', multiple: true },
  profile: { type: 'string' },
  'rtp-ports': { type: 'string' },
  sounds: { type: 'string' },
  recordings: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const;

type Values = ReturnType<typeof parse>;

/** A missing or invalid option. */
class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** `ringmaster embedded`: runs the servers until SIGTERM or SIGINT. */
export async function embedded(args: readonly string[]): Promise<number | undefined> {
  const servers: EmbeddedServer<object>[] = [];
  const nursery = new Nursery();
  try {
    const values = parse(args);
    if (values.help === true || args.length === 0) {
      process.stdout.write(USAGE);
      return 0;
    }
    const sip = sipOptions(values);
    const media = mediaOptions(values);
    if (sip !== undefined) {
      const server = await startSipServer(sip, { atRest: MEMORY_MODULE });
      servers.push(server);
      process.stdout.write(`app ${server.addresses.app}\nsip ${server.addresses.sip}\n`);
    }
    if (media !== undefined) {
      // Before there are calls that starting a process would hold up.
      nursery.open();
      const server = await startMediaServer(media, { run: programRunner(nursery), atRest: MEMORY_MODULE });
      servers.push(server);
      process.stdout.write(`event-socket ${server.addresses.eventSocket}\nmedia ${server.addresses.sip}\n`);
    }
  } catch (error) {
    for (const server of servers) await server.close();
    // Its line would keep this process from ending.
    nursery.close();
    process.stderr.write(`ringmaster embedded: ${(error as Error).message.split('\n')[0]}\n`);
    return 1;
  }
  stopWith(servers);
  process.stdout.write('ready\n');
  return undefined;
}

function stopWith(servers: readonly EmbeddedServer<object>[]): void {
  let stopping = false;
  const stop = async (code: number) => {
    if (stopping) return;
    stopping = true;
    for (const server of servers) await server.close();
    process.exit(code);
  };
  for (const signal of STOP_SIGNALS) process.on(signal, () => void stop(0));
  for (const server of servers) {
    void server.exited.then((error) => {
      if (error !== undefined) process.stderr.write(`ringmaster embedded: ${error.message}\n`);
      return stop(error === undefined ? 0 : 1);
    });
  }
}

function parse(args: readonly string[]) {
  return parseArgs({ args: [...args], options: OPTIONS, strict: true }).values;
}

function sipOptions(values: Values): SipServerOptions | undefined {
  if (values.app === undefined && values.sip === undefined && values.secret === undefined) return undefined;
  return {
    app: needed(values.app, '--app'),
    secret: needed(values.secret, '--secret'),
    sip: needed(values.sip, '--sip').flatMap(both),
    publicAddresses: publicAddressesOf('--public-address', (values['public-address'] ?? []).join(',')),
    towardsMedia: true,
  };
}

function mediaOptions(values: Values): MediaServerOptions | undefined {
  const eventSocket = values['event-socket'];
  if (eventSocket === undefined && values.password === undefined && values.media === undefined) return undefined;
  return {
    eventSocket: needed(eventSocket, '--event-socket'),
    password: needed(values.password, '--password'),
    media: needed(values.media, '--media'),
    ...(values['rtp-host'] === undefined
      ? {}
      : { rtpHosts: listeningHosts('--rtp-host', values['rtp-host'].join(',')) }),
    publicAddresses: publicAddressesOf('--public-address', (values['public-address'] ?? []).join(',')),
    ...(values.callers === undefined ? {} : { callers: values.callers }),
    profile: values.profile ?? 'drachtio_mrf',
    rtpPorts: portRange(values['rtp-ports'] ?? '20000-20999'),
    sounds: values.sounds ?? process.cwd(),
    recordings: values.recordings ?? process.cwd(),
  };
}

/** `[::]:port` stands for IPv4 too, as in the settings of a node. */
function both(address: string): string[] {
  const port = /^\[::\]:(\d+)$/.exec(address)?.[1];
  return port === undefined ? [address] : [`0.0.0.0:${port}`, address];
}

function needed<T>(value: T | undefined, option: string): T {
  if (value === undefined) throw new UsageError(`${option} is missing; --help tells what is needed`);
  return value;
}

function portRange(text: string): { from: number; to: number } {
  const [, from, to] = /^(\d{1,5})-(\d{1,5})$/.exec(text) ?? [];
  if (from === undefined || Number(to) > 65535 || Number(from) >= Number(to)) {
    throw new UsageError(`--rtp-ports: found "${text}", expected a range such as 20000-20999`);
  }
  return { from: Number(from), to: Number(to) };
}
