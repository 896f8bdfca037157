/** The door of this room: what other rooms use of it. */
export { AgentDesk, type AgentDeskOptions } from './agent-desk.ts';
export { ArmedRuns } from './armed-runs.ts';
export { bestAnswer } from './best-answer.ts';
export {
  type CallPort,
  CallStateError,
  type DialOptions,
  type HuntTransfer,
  isInterruption,
  ownCall,
  type OwnCall,
  type ServingRun,
  ownCallTo,
  type PreAnswer,
  type ReferOptions,
} from './call-port.ts';
export { ScenarioCallState } from './call-state.ts';
export type {
  Answer,
  CallEnd,
  CollectOptions,
  CollectResult,
  DialogSide,
  OutgoingCall,
  PartyInfo,
  PlayOptions,
  PlayResult,
  RingbackOptions,
  TakeOverOptions,
  Transfer,
  TransferOptions,
} from './call-values.ts';
export { busy, type Clock, systemClock } from './clock.ts';
export {
  type Component,
  type ComponentContext,
  type ComponentRegistry,
  componentRegistry,
  type ComponentResult,
  defineComponent,
} from './component.ts';
export { parseTail, splitDtmfTail, type TailStep } from './dtmf-tail.ts';
export { SharedMap } from './shared-map.ts';
export { FolderWatch } from './folder-watch.ts';
export { beginChecks, type FileChecks } from './file-checks.ts';
export { openScenarioLibrary, type ScenarioFile, type ScenarioLibrary } from './library.ts';
export { type Log, SILENT } from './log.ts';
export type { CallPreview, CallPreviews, DialledCall } from './ports/call-preview.ts';
export type { CallRecordingPort, RecordingChange, RecordLayer } from './ports/call-recording.ts';
export type { CallSpeechPort, SpeechChange, SpeechLayer } from './ports/call-speech.ts';
export type {
  Agents,
  AgentSettings,
  AgentState,
  AgentStatus,
  AgentTalk,
  AgentView,
  Seeker,
  SuperviseOptions,
} from './ports/agents.ts';
export { unavailable } from './ports/capability.ts';
export type { EnteredRoom, EnterOptions, RoomTransfer } from './ports/conferring.ts';
export {
  type DialogPort,
  legBy,
  liveDialog,
  type LiveDialog,
  type LiveLeg,
  notApplicable,
  type StopMelodyMode,
} from './ports/dialogs.ts';
export { DTMF_PROTOS, type DtmfProto } from './ports/dtmf.ts';
export { type BusEvent, eventName, type EventPort, SCENARIO_EVENTS } from './ports/events.ts';
export type { HttpPort, HttpRequest, HttpResponse } from './ports/http.ts';
export { MemoryHuntHistory } from './ports/hunt-history.ts';
export { answeredLeg, DIALOG_ID, DTMF, EVENT, LEG_CALLID, notifiableLeg } from './ports/legs.ts';
export type { ListenOptions, ListenResult } from './ports/listening.ts';
export type { MachineOptions, MachineResult } from './ports/machine-detection.ts';
export { MESSAGE_METHODS, type SipMessage } from './ports/messaging.ts';
export type { Entity, EntityQuery, ModelPort } from './ports/model.ts';
export type { OperationPort } from './ports/operations.ts';
export { MemoryParkingLot, type Parked, type ParkingLot } from './ports/parking.ts';
export {
  type Debugging,
  NO_SECRETS,
  OPEN_POLICY,
  type Reveal,
  type ScenarioPolicy,
  type Secrets,
} from './ports/policy.ts';
export { type InLine, MemoryQueues, type Queues, type QueueView } from './ports/queueing.ts';
export type { Mail, MailPort, MailResult } from './ports/mail.ts';
export type { PromptPort } from './ports/prompts.ts';
export { RECORDING, type RecordingStore, type RecordOptions, type RecordResult } from './ports/recording.ts';
export type { RunServices } from './ports/services.ts';
export { checkedHeaders, MAX_HEADER_VALUE, parseHeaders } from './ports/sip-headers.ts';
export type { SayOptions } from './ports/speaking.ts';
export { MAX_TEXT_OCTETS, type TextMessage, type TextPort } from './ports/texting.ts';
export type { TranscriptChannel, TranscriptPort, TranscriptSource } from './ports/transcripts.ts';
export { type CancellableTransfer, isCancellable } from './ports/transfer.ts';
export {
  MemoryVoicemail,
  MESSAGE,
  type MessageToLeave,
  newFirst,
  type VoiceMessage,
  type VoicemailPort,
} from './ports/voicemail.ts';
export type { CallNotice } from './ports/watching.ts';
export { lostNews } from './run/run-news.ts';
export { type BlockFigures, figuresOf, type RunFigures } from './run-figures.ts';
export {
  type Caller,
  callerOf,
  callidOf,
  type KeptRun,
  lostRun,
  type RunView,
  shownOutcome,
  viewOf,
} from './run-view.ts';
export { failureStack, failureText, failureTextForOthers } from './run/failure-text.ts';
export type { RunError, RunOutcome } from './run/outcome.ts';
export type { Report } from './run/report.ts';
export { type AwaitedRun, RunBook, type RunsElsewhere, told } from './run/run-book.ts';
export type { Message } from './run/mailbox.ts';
export type { Run, RunOptions } from './run/run.ts';
export { MASK, Sensitive } from './run/sensitive.ts';
export type { RunKeeper, SavedRun } from './run/saved-run.ts';
export { startRun } from './run/start-run.ts';
export { INTERRUPTED, MAX_SUBJECT_LENGTH, type ToldEvent, type TraceEntry } from './run/trace.ts';
export { type SavingRun, ScenarioRunner } from './runner.ts';
export { SecretBox } from './secret-box.ts';
export { type StartValues, startValues } from './start-values.ts';
export {
  type HookRequest,
  type HookResult,
  ScenarioStarter,
  type StarterOptions,
  type StartsElsewhere,
} from './starting/starter.ts';
export { type ScenarioVersions, VersionError, type VersionNumbers } from './versions.ts';
