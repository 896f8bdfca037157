import type { DomainName } from '../../domain-name/index.ts';
import type { Sandbox } from '../../sandbox/index.ts';
import type { CallPort, OwnCall } from '../call-port.ts';
import type { Program } from '../../language/index.ts';
import type { Run } from '../run/run.ts';
import type { RunKeeper } from '../run/saved-run.ts';
import type { RunBook } from '../run/run-book.ts';
import type { Agents } from './agents.ts';
import type { CallRecordingPort } from './call-recording.ts';
import type { StartValues } from '../start-values.ts';
import type { CallSpeechPort } from './call-speech.ts';
import type { DialogPort } from './dialogs.ts';
import type { EventPort } from './events.ts';
import type { HttpPort } from './http.ts';
import type { HuntHistory } from './hunt-history.ts';
import type { MailPort } from './mail.ts';
import type { ModelPort } from './model.ts';
import type { OperationPort } from './operations.ts';
import type { ParkingLot } from './parking.ts';
import type { PromptPort } from './prompts.ts';
import type { Queues } from './queueing.ts';
import type { RunFollowers } from './run-followers.ts';
import type { ScenarioPolicy } from './policy.ts';
import type { RecordingStore } from './recording.ts';
import type { TextPort } from './texting.ts';
import type { TranscriptPort } from './transcripts.ts';
import type { VoicemailPort } from './voicemail.ts';

/**
 * Services of the node for runs, beside the call. A component that needs a missing service takes its `error` exit with the
 * code `unavailable`.
 */
export interface RunServices {
  /** The scenario of this id in a domain, for `run` in the call of a caller; without it, no other scenario can be started. */
  readonly scenarios?: (id: string, domain: DomainName, caller?: string) => Promise<Program | undefined>;
  /** Passes a call to the scenario with this code; undefined for an unknown one, and the call is untouched. */
  readonly serve: (code: string, call: CallPort, start: StartValues) => Promise<Run | undefined>;
  /**
   * A new call in state `none`, for parallel scenarios, and for parties that a scenario calls.
   * @param forCaller true: for a caller, whose call counts for the limit of the domain; default false
   */
  readonly openCall: (domain: DomainName, forCaller?: boolean) => OwnCall;
  /** Finds runs by id, for messages between them. */
  readonly runs: RunBook;
  readonly events: EventPort;
  /** Live dialogs, for components that read or change one by its id. */
  readonly dialogs: DialogPort;
  readonly callRecording: CallRecordingPort;
  readonly callSpeech: CallSpeechPort;
  readonly transcripts: TranscriptPort;
  readonly operations: OperationPort;
  readonly texts: TextPort;
  readonly http: HttpPort;
  readonly mail: MailPort;
  readonly model: ModelPort;
  readonly recordings: RecordingStore;
  readonly prompts: PromptPort;
  readonly voicemail: VoicemailPort;
  readonly huntHistory: HuntHistory;
  readonly parking: ParkingLot;
  readonly queues: Queues;
  readonly agents: Agents;
  /** Undefined where nobody can follow runs, as of hidden scenarios. */
  readonly followers?: RunFollowers;
  /** Keeps waiting runs for other nodes; undefined on a single node. */
  readonly keeper?: RunKeeper | undefined;
  /** The sandbox for scripts; without it, scripts do not run. */
  readonly sandbox?: Sandbox;
  readonly policy: ScenarioPolicy;
}
