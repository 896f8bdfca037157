/** Writes a complete configuration for drachtio-server and FreeSWITCH: `npx ringmaster freeswitch-config`. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readConfig, type ServerAddress } from '../runtime/config/config.ts';
import { makeHoldMusic } from '../runtime/embedded/media/audio/hold-music.ts';
import { wavHeader } from '../runtime/embedded/media/audio/wav.ts';
import { type Sizing, sessionsFor, SizingError } from './sizing.ts';
import { fill, TemplateError } from './template.ts';

/** How the node reaches the pair: what RINGMASTER_DRACHTIO and RINGMASTER_FREESWITCH say. */
export interface Pair {
  readonly drachtio: ServerAddress;
  readonly freeswitch: ServerAddress;
}

const TEMPLATES = join(dirname(fileURLToPath(import.meta.url)), 'templates');

/**
 * Renders every template into `target` and makes the folders that the configuration names. Hold music is written
 * where there is none yet.
 * @returns the files written, relative to `target`
 */
export function render(sizing: Sizing, pair: Pair, target: string): string[] {
  const values = valuesFor(sizing, pair, target);
  const used = new Set<string>();
  const templates = readdirSync(TEMPLATES, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const rendered = templates.map((entry) => {
    const source = join(entry.parentPath, entry.name);
    const name = source.slice(TEMPLATES.length + 1);
    return { name, text: fill(readFileSync(source, 'utf8'), values, name, used) };
  });
  const unused = Object.keys(values).filter((name) => !used.has(name));
  if (unused.length > 0) throw new TemplateError(`no template uses ${unused.join(', ')}`);
  for (const { name, text } of rendered) {
    mkdirSync(dirname(join(target, name)), { recursive: true });
    // Both files with secrets are among them: nobody but the owner reads any.
    writeFileSync(join(target, name), text, { mode: 0o600 });
  }
  for (const folder of ['sounds', 'recordings', 'logs'] as const) {
    mkdirSync(resolve(target, sizing.folders[folder]), { recursive: true });
  }
  provideMusic(join(resolve(target, sizing.folders.sounds), 'music'));
  return rendered.map(({ name }) => name);
}

function valuesFor(sizing: Sizing, pair: Pair, target: string): Record<string, string | number> {
  return {
    callsPerSecond: sizing.callsPerSecond,
    'drachtio.appAddress': pair.drachtio.host,
    'drachtio.appPort': pair.drachtio.port,
    'drachtio.secret': pair.drachtio.secret,
    'sip.address': sizing.sip.address,
    'sip.port': sizing.sip.port,
    'sip.callRecords': String(sizing.sip.callRecords),
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
    // FreeSWITCH counts in pairs of ports and warns of an odd last one.
    'media.rtpLast': sizing.media.rtp.last - (sizing.media.rtp.last % 2),
    'folders.sounds': resolve(target, sizing.folders.sounds),
    'folders.recordings': resolve(target, sizing.folders.recordings),
    'folders.logs': resolve(target, sizing.folders.logs),
  };
}

/** FreeSWITCH warns about a hold music folder without files, so the embedded server's own music goes there. */
function provideMusic(folder: string): void {
  mkdirSync(folder, { recursive: true });
  if (readdirSync(folder).length > 0) return;
  const music = makeHoldMusic();
  writeFileSync(
    join(folder, 'hold-music.wav'),
    Buffer.concat([wavHeader(music.length), Buffer.from(music.buffer, music.byteOffset, music.byteLength)]),
  );
}

/**
 * The pair that RINGMASTER_DRACHTIO and RINGMASTER_FREESWITCH name.
 * @throws SizingError unless each variable names exactly one server
 * @throws ConfigError for a variable that cannot be read
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
