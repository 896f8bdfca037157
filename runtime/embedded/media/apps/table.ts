import type { ApplicationStart, ApplicationTable } from '../channel/application.ts';
import { conferenceApplication } from '../conference/application.ts';
import type { ConferenceTable } from '../conference/table.ts';
import { hangup, nothing, schedHangup, sendDtmf, setMute, transferCall } from './call-control.ts';
import { eavesdrop } from './eavesdrop.ts';
import { echo } from './echo.ts';
import { park } from './idle.ts';
import { startDtmf, startDtmfGenerate, stopDtmf, stopDtmfGenerate } from './inband-dtmf.ts';
import { playAndGetDigits } from './play-and-get-digits.ts';
import { endlessPlayback, playback } from './playback.ts';
import { record, recordSession, recordSessionMask, stopRecordSession } from './record.ts';
import { sleep } from './sleep.ts';
import { say, speak } from './speech.ts';
import { stopToneDetect, toneDetect } from './tone-detect.ts';
import { exportVariable, multiset, set, unset } from './variables.ts';

/**
 * All applications of the server. An unknown application ends the call, as in FreeSWITCH.
 *
 * @param conferences the conferences that `conference` joins
 */
export function applications(conferences: ConferenceTable): ApplicationTable {
  return new Map<string, ApplicationStart>([
    ['answer', nothing],
    ['break', nothing],
    ['conference', conferenceApplication(conferences)],
    ['eavesdrop', eavesdrop],
    ['echo', echo],
    ['endless_playback', endlessPlayback],
    ['export', exportVariable],
    ['hangup', hangup],
    ['info', nothing],
    ['log', nothing],
    ['multiset', multiset],
    ['park', park],
    ['play_and_get_digits', playAndGetDigits],
    ['playback', playback],
    ['pre_answer', nothing],
    ['record', record],
    ['record_session', recordSession],
    ['record_session_mask', recordSessionMask(true)],
    ['record_session_unmask', recordSessionMask(false)],
    ['say', say],
    ['sched_hangup', schedHangup],
    ['send_dtmf', sendDtmf],
    ['set', set],
    ['set_mute', setMute],
    ['sleep', sleep],
    ['speak', speak],
    ['start_dtmf', startDtmf],
    ['start_dtmf_generate', startDtmfGenerate],
    ['stop_dtmf', stopDtmf],
    ['stop_dtmf_generate', stopDtmfGenerate],
    ['stop_record_session', stopRecordSession],
    ['stop_tone_detect', stopToneDetect],
    ['tone_detect', toneDetect],
    ['transfer', transferCall],
    ['unset', unset],
  ]);
}
