/** API commands about the server as a whole. */
import { randomUUID } from 'node:crypto';
import { MAX_SESSIONS, MAX_SESSIONS_PER_SECOND, VERSION_STATUS } from '../core/identity.ts';
import type { MediaCore } from '../core/media-core.ts';
import type { ApiCommand } from './command.ts';

/** `status`. */
export const status: ApiCommand = (core) => {
  const { sinceStart, peak, lastSecond, peakRate } = core.sessions.figures();
  return [
    `UP ${core.identity.upTime()}`,
    `FreeSWITCH (Version ${VERSION_STATUS}) is ready`,
    `${sinceStart} session(s) since startup`,
    `${core.channels.size} session(s) - peak ${peak}, last 5min ${peak} `,
    `${lastSecond} session(s) per Sec out of max ${MAX_SESSIONS_PER_SECOND}, peak ${peakRate}, last 5min ${peakRate} `,
    `${MAX_SESSIONS} session(s) max`,
    'min idle cpu 0.00/100.00',
    'Current Stack Size/Max 240K/240K',
    '',
  ].join('\n');
};

/** `sofia status`: drachtio-fsmrf reads the profile's address from it. */
export const sofia: ApiCommand = (core, argument) => {
  if (argument.trim() !== 'status') return '-ERR only sofia status is supported\n';
  const rule = '='.repeat(97);
  const row = (name: string, type: string, data: string, state: string): string =>
    `${name.padStart(25)}\t${type.padStart(7)}\t${data.padStart(42)}\t${state}`;
  return [
    row('Name', '   Type', 'Data', 'State'),
    rule,
    row(core.identity.address, 'alias', core.profileName, 'ALIASED'),
    row(core.profileName, 'profile', `sip:mod_sofia@${core.profileAddress}`, `RUNNING (${core.channels.size})`),
    rule,
    '1 profile 1 alias',
    '',
  ].join('\n');
};

/** `create_uuid`. */
export const createUuid: ApiCommand = () => randomUUID();

/** `echo`: returns its argument. */
export const echo: ApiCommand = (_core, argument) => argument;

export const version: ApiCommand = () => `FreeSWITCH Version ${VERSION_STATUS}\n`;

export const hostname: ApiCommand = (core) => core.identity.host;

/** `global_getvar`: the global variables that clients use. */
export const globalGetvar: ApiCommand = (core, argument) => {
  const variables: Record<string, string> = {
    core_uuid: core.identity.coreUuid,
    local_ip_v4: core.identity.address,
    switchname: core.identity.host,
  };
  return variables[argument] ?? '';
};

/** `show channels|calls [count|as json]`. */
export const show: ApiCommand = (core, argument) => {
  const [what = '', ...how] = argument.trim().split(/\s+/);
  if (what !== 'channels' && what !== 'calls') return '-USAGE: codec|endpoint|application|api|calls|channels\n';
  const rows = channelRows(core, what === 'calls');
  if (how[0] === 'count')
    return how.includes('json') ? JSON.stringify({ row_count: rows.length }) : `\n${rows.length} total.\n`;
  if (how[0] === 'as' && how[1] === 'json') {
    return JSON.stringify(rows.length === 0 ? { row_count: 0 } : { row_count: rows.length, rows });
  }
  const columns = Object.keys(rows[0] ?? {});
  const lines = rows.map((row) => columns.map((column) => row[column] ?? '').join(','));
  return rows.length === 0 ? '\n0 total.\n' : `${columns.join(',')}\n${lines.join('\n')}\n\n${rows.length} total.\n`;
};

function channelRows(core: MediaCore, onlyBridged: boolean): Record<string, string>[] {
  return [...core.channels.values()]
    .filter((channel) => !onlyBridged || channel.bridged)
    .map((channel) => ({
      uuid: channel.uuid,
      direction: 'inbound',
      created: new Date(channel.times.created / 1000).toISOString().slice(0, 19).replace('T', ' '),
      created_epoch: String(Math.floor(channel.times.created / 1_000_000)),
      name: channel.profile.channelName,
      state: channel.state,
      cid_name: channel.profile.callerIdName,
      cid_num: channel.profile.callerIdNumber ?? '',
      ip_addr: channel.profile.networkAddress,
      dest: channel.profile.destinationNumber,
      application: channel.currentApplication?.application ?? '',
      application_data: channel.currentApplication?.data ?? '',
      dialplan: channel.dialplan,
      context: channel.profile.context,
      read_codec: channel.rtp.codec.name,
      read_rate: String(channel.rtp.codec.rate),
      read_bit_rate: String(channel.rtp.codec.bitRate),
      write_codec: channel.rtp.codec.name,
      write_rate: String(channel.rtp.codec.rate),
      write_bit_rate: String(channel.rtp.codec.bitRate),
      secure: '',
      hostname: core.identity.host,
      presence_id: '',
      presence_data: '',
      accountcode: '',
      callstate: channel.callState,
      callee_name: '',
      callee_num: '',
      callee_direction: '',
      call_uuid: channel.get('call_uuid') ?? '',
      sent_callee_name: '',
      sent_callee_num: '',
      initial_cid_name: channel.profile.callerIdName,
      initial_cid_num: channel.profile.callerIdNumber ?? '',
      initial_ip_addr: channel.profile.networkAddress,
      initial_dest: channel.profile.destinationNumber,
      initial_dialplan: 'XML',
      initial_context: channel.profile.context,
    }));
}
