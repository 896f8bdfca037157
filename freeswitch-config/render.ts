/** Writes a complete configuration for drachtio-server and FreeSWITCH: `npx ringmaster freeswitch-config`. */
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readConfig, type ServerAddress } from '../runtime/config/index.ts';
import { holdMusicFile } from '../runtime/embedded/index.ts';
import type { Owner } from './owner.ts';
import { type Sizing, sessionsFor, SizingError } from './sizing.ts';
import { fill, TemplateError } from './template.ts';

/** The node's addresses of the pair, from RINGMASTER_DRACHTIO and RINGMASTER_FREESWITCH. */
export interface Pair {
  readonly drachtio: ServerAddress;
  readonly freeswitch: ServerAddress;
}

/** Folder inside of the rendered one. */
const CERTIFICATES = 'certs';

const TEMPLATES = join(dirname(fileURLToPath(import.meta.url)), 'templates');

/**
 * Renders every template into `target` and makes the folders of the configuration. Writes hold music into an empty folder
 * of hold music.
 * @param target an absolute path
 * @param owner owner of the files and of the folders made for them; default: the present user
 * @returns the configuration files, relative to `target`
 * @throws OwnerError when `owner` cannot be set
 */
export function render(sizing: Sizing, pair: Pair, target: string, owner?: Owner): string[] {
  const values = valuesFor(sizing, pair, target);
  const used = new Set<string>();
  const templates = readdirSync(TEMPLATES, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const rendered = templates.map((entry) => {
    const source = join(entry.parentPath, entry.name);
    const name = source.slice(TEMPLATES.length + 1);
    return { name, text: fill(readFileSync(source, 'utf8'), values, name, used) };
  });
  const unused = Object.keys(values).filter((name) => values[name] !== undefined && !used.has(name));
  if (unused.length > 0) throw new TemplateError(`no template uses ${unused.join(', ')}`);
  for (const { name, text } of rendered) {
    mkdirSync(dirname(join(target, name)), { recursive: true });
    // Two of them contain secrets, so only the owner can read the files.
    writeFileSync(join(target, name), text, { mode: 0o600 });
  }
  const files = rendered.map(({ name }) => join(target, name));
  const music = join(sizing.folders.sounds, 'music');
  const ours = [sizing.folders.sounds, sizing.folders.recordings, music]
    .map((folder) => resolve(target, folder))
    .filter((folder) => makeFolder(folder, target));
  // FreeSWITCH writes there, readable for all users: its whole configuration, freeswitch.xml.fsxml; and the key of its DTLS.
  for (const folder of [resolve(target, sizing.folders.logs), join(target, CERTIFICATES)]) {
    if (!makeFolder(folder, target)) continue;
    ours.push(folder);
    chmodSync(folder, 0o700);
  }
  const written = provideMusic(resolve(target, music));
  owner?.take([...files, ...files.map(dirname), ...ours, ...written]);
  return rendered.map(({ name }) => name);
}

function valuesFor(sizing: Sizing, pair: Pair, target: string): Record<string, string | number | undefined> {
  const { certificate } = sizing.sip;
  return {
    callsPerSecond: sizing.callsPerSecond,
    'drachtio.appAddress': pair.drachtio.host,
    'drachtio.appPort': pair.drachtio.port,
    'drachtio.secret': pair.drachtio.secret,
    'sip.address': sizing.sip.address,
    'sip.port': sizing.sip.port,
    'sip.callRecords': String(sizing.sip.callRecords),
    'sip.tlsPort': sizing.sip.tlsPort,
    'sip.wsPort': sizing.sip.wsPort,
    'sip.wssPort': sizing.sip.wssPort,
    'sip.cert': certificate && resolve(target, certificate.cert),
    'sip.key': certificate && resolve(target, certificate.key),
    'sip.chain': certificate && resolve(target, certificate.chain),
    'sip.cidr': [sizing.sip.address, ...sizing.sip.others].map((address) => `${address}/32`).join(','),
    'node.cidr': `${sizing.node}/32`,
    'media.address': pair.freeswitch.host,
    'media.advertisedAddress': sizing.media.advertisedAddress ?? pair.freeswitch.host,
    'media.eventSocketPort': pair.freeswitch.port,
    'media.password': pair.freeswitch.secret,
    'media.sipPort': sizing.media.sipPort,
    'media.sessions': sessionsFor(sizing.calls),
    'media.sessionsPerSecond': sizing.callsPerSecond * 2,
    'media.rtpFirst': sizing.media.rtp.first,
    // FreeSWITCH uses ports in pairs and warns of an odd last one.
    'media.rtpLast': sizing.media.rtp.last - (sizing.media.rtp.last % 2),
    'folders.sounds': resolve(target, sizing.folders.sounds),
    'folders.recordings': resolve(target, sizing.folders.recordings),
    'folders.logs': resolve(target, sizing.folders.logs),
  };
}

/** True for a folder made for the pair, now or inside the rendered one. Others keep their owner and permissions. */
function makeFolder(folder: string, target: string): boolean {
  const made = mkdirSync(folder, { recursive: true }) !== undefined;
  return made || folder.startsWith(target + sep);
}

/**
 * FreeSWITCH warns about a hold music folder without files, so the embedded server's own music goes there.
 * @returns the written files
 */
function provideMusic(folder: string): string[] {
  if (readdirSync(folder).length > 0) return [];
  const file = join(folder, 'hold-music.wav');
  writeFileSync(file, holdMusicFile());
  return [file];
}

/**
 * The pair that RINGMASTER_DRACHTIO and RINGMASTER_FREESWITCH name.
 * @throws SizingError unless each variable names exactly one server
 * @throws ConfigError for an invalid variable
 */
export function pairFrom(env: NodeJS.ProcessEnv): Pair {
  const { drachtio, freeswitch } = readConfig(env);
  return { drachtio: only('RINGMASTER_DRACHTIO', drachtio), freeswitch: only('RINGMASTER_FREESWITCH', freeswitch) };
}

function only(name: string, servers: readonly ServerAddress[]): ServerAddress {
  const [server] = servers;
  if (server === undefined || servers.length > 1) {
    throw new SizingError(name, servers.length, 'one host:port:secret; render once for each pair');
  }
  return server;
}
