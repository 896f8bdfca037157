import * as audio from './audio-commands.ts';
import { conferenceCommand } from '../conference/commands/table.ts';
import * as channel from './channel-commands.ts';
import type { ApiCommand, ApiTable } from './command.ts';
import { uuidBuglist, uuidRecord } from './record-commands.ts';
import * as status from './status.ts';

/** Every API command of the server. */
export const APIS: ApiTable = new Map<string, ApiCommand>([
  ['conference', conferenceCommand],
  ['create_uuid', status.createUuid],
  ['echo', status.echo],
  ['global_getvar', status.globalGetvar],
  ['hostname', status.hostname],
  ['hupall', channel.hupall],
  ['sched_hangup', channel.schedHangup],
  ['show', status.show],
  ['sofia', status.sofia],
  ['status', status.status],
  ['tone_detect', audio.toneDetect],
  ['uuid_audio', audio.uuidAudio],
  ['uuid_break', channel.uuidBreak],
  ['uuid_bridge', channel.uuidBridge],
  ['uuid_broadcast', channel.uuidBroadcast],
  ['uuid_buglist', uuidBuglist],
  ['uuid_displace', audio.uuidDisplace],
  ['uuid_dump', channel.uuidDump],
  ['uuid_exists', channel.uuidExists],
  ['uuid_fileman', audio.uuidFileman],
  ['uuid_getvar', channel.uuidGetvar],
  ['uuid_kill', channel.uuidKill],
  ['uuid_park', channel.uuidPark],
  ['uuid_record', uuidRecord],
  ['uuid_recv_dtmf', channel.uuidRecvDtmf],
  ['uuid_send_dtmf', channel.uuidSendDtmf],
  ['uuid_set_media_stats', channel.uuidSetMediaStats],
  ['uuid_setvar', channel.uuidSetvar],
  ['uuid_setvar_multi', channel.uuidSetvarMulti],
  ['uuid_transfer', channel.uuidTransfer],
  ['version', status.version],
]);
