import type { Component } from '../runtime/runs/index.ts';
import { answer } from './answer/index.ts';
import { awaitRun } from './await_run/index.ts';
import { bindings } from './bindings/index.ts';
import { bridge } from './bridge/index.ts';
import { call } from './call/index.ts';
import { collect } from './collect/index.ts';
import { echo } from './echo/index.ts';
import { detectMachine } from './detect_machine/index.ts';
import { email } from './email/index.ts';
import { fail } from './fail/index.ts';
import { hangup } from './hangup/index.ts';
import { holdMelody } from './hold_melody/index.ts';
import { holdMusic } from './hold_music/index.ts';
import { http } from './http/index.ts';
import { hunt } from './hunt/index.ts';
import { ifComponent } from './if/index.ts';
import { conference } from './conference/index.ts';
import { join } from './join/index.ts';
import { language } from './language/index.ts';
import { legDtmf } from './leg_dtmf/index.ts';
import { legNotify } from './leg_notify/index.ts';
import { log } from './log/index.ts';
import { loop } from './loop/index.ts';
import { mailbox } from './mailbox/index.ts';
import { menu } from './menu/index.ts';
import { modelList } from './model_list/index.ts';
import { modelRead } from './model_read/index.ts';
import { modelWrite } from './model_write/index.ts';
import { park } from './park/index.ts';
import { phrase } from './phrase/index.ts';
import { play } from './play/index.ts';
import { publish } from './publish/index.ts';
import { receive } from './receive/index.ts';
import { recognise } from './recognise/index.ts';
import { recogniseCall } from './recognise_call/index.ts';
import { queue } from './queue/index.ts';
import { agent } from './agent/index.ts';
import { supervise } from './supervise/index.ts';
import { deleteRecording } from './delete_recording/index.ts';
import { record } from './record/index.ts';
import { recordCall } from './record_call/index.ts';
import { refer } from './refer/index.ts';
import { reject } from './reject/index.ts';
import { report } from './report/index.ts';
import { retrieve } from './retrieve/index.ts';
import { returnComponent } from './return/index.ts';
import { ring } from './ring/index.ts';
import { run } from './run/index.ts';
import { script } from './script/index.ts';
import { say } from './say/index.ts';
import { send } from './send/index.ts';
import { sendDtmf } from './send_dtmf/index.ts';
import { sendMessage } from './send_message/index.ts';
import { sendSip } from './send_sip/index.ts';
import { serve } from './serve/index.ts';
import { set } from './set/index.ts';
import { stop } from './stop/index.ts';
import { switchComponent } from './switch/index.ts';
import { takeOver } from './take_over/index.ts';
import { terminate } from './terminate/index.ts';
import { tone } from './tone/index.ts';
import { transcribe } from './transcribe/index.ts';
import { wait } from './wait/index.ts';
import { waitEvent } from './wait_event/index.ts';
import { webhook } from './webhook/index.ts';
export { AddressGuard } from './http/address-guard.ts';
export { SmtpMailer, type SmtpServer } from './email/smtp.ts';
export { GuardedHttpClient } from './http/client.ts';

/** Every component of this folder. Those of the operations are made from their definitions (runtime/operations). */
export const builtInComponents: readonly Component[] = [
  answer,
  ring,
  reject,
  hangup,
  play,
  say,
  tone,
  phrase,
  language,
  holdMusic,
  queue,
  agent,
  supervise,
  collect,
  menu,
  record,
  deleteRecording,
  mailbox,
  recordCall,
  recognise,
  recogniseCall,
  transcribe,
  detectMachine,
  echo,
  email,
  wait,
  call,
  refer,
  takeOver,
  conference,
  join,
  terminate,
  bindings,
  legDtmf,
  legNotify,
  holdMelody,
  hunt,
  bridge,
  park,
  retrieve,
  sendDtmf,
  sendSip,
  sendMessage,
  set,
  ifComponent,
  switchComponent,
  loop,
  script,
  run,
  serve,
  awaitRun,
  stop,
  returnComponent,
  fail,
  send,
  receive,
  waitEvent,
  publish,
  http,
  webhook,
  modelRead,
  modelList,
  modelWrite,
  log,
  report,
];
