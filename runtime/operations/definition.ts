import type { Static, TObject, TSchema } from 'typebox';
import type { DomainName } from '../domain-name/index.ts';
import type { CallStore, ConferenceStore, DialogScope } from '../callstore/index.ts';
import type { Directory } from '../domain/index.ts';
import type { CallPreview, CallPreviews, DialogPort, LiveLeg, Report, RunServices } from '../runs/index.ts';
import type { Program, Value } from '../language/index.ts';
import type { ConferenceControl } from './conferences/control.ts';

/**
 * One operation on calls or conferences. REST routes, OpenAPI, checks, dry runs, records, documentation and the component
 * `operation.NAME` are made from this.
 */
export interface OperationDefinition<Parameters extends TObject = TObject> {
  /** Lower case with underscores: `refer` is the method REFER, the suffix `!refer`, the component `operation.refer`. */
  readonly name: string;
  /** One sentence. */
  readonly summary: string;
  /** Without those that name the target: see `settingsOf`. */
  readonly parameters: Parameters;
  readonly response: TSchema;
  /** Settings of the component, as somebody may give them. A selector of the dialog may be left out. */
  readonly example: Readonly<Record<string, Value>>;
  /**
   * What the path of a request names, or parameters do.
   * - `none`: nothing
   * - `dialog`: exactly one dialog
   * - `dialogs`: every dialog that the selector matches
   * - `found`: the same, and finding them is the whole operation: no path names one
   * - `conference`: one conference
   * - `participant`: one conference and one of its participants
   */
  readonly target: 'none' | 'dialog' | 'dialogs' | 'found' | 'conference' | 'participant';
  /** How REST callers ask for it. Absent: for scenarios alone; over HTTP a GET on the collection reads the same. */
  readonly http?: CallMethod | ConferenceRoute;
  /** A phone rings: a repeat with the same Idempotency-Key must not ring it again. */
  readonly startsCall: boolean;
  /** Id of its hidden scenario in `scenarios/service`; absent where the plan does it all. */
  readonly scenario?: string;
  /**
   * Checks what only this operation knows, and says what will be done. Nothing has happened yet, and with `dry_run`
   * nothing will.
   * @throws ParameterError, OperationError
   */
  plan(tools: PlanTools, request: PlanRequest<Static<Parameters>>): OperationPlan | Promise<OperationPlan>;
}

/** A method of its own: `POST /uc/calls!refer` with a selector in the body, `POST /uc/calls/ID!refer`. */
export interface CallMethod {
  readonly on: 'calls';
  /** `domain`: on /uc/calls. `own`: on /user/sip/calls. */
  readonly paths: readonly ('domain' | 'own')[];
  /** The HTTP method that means the same, beside the operation's own. */
  readonly verb?: 'POST' | 'DELETE';
}

/** A request below /uc/conferences and /uc/conferences_by_participation. */
export interface ConferenceRoute {
  readonly on: 'conferences';
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** With `{confid}` and `{participantid}` where the target has them, e.g. `/{confid}/topology`. */
  readonly path: string;
  /** True: `dry_run` can be asked for. */
  readonly dryRun?: boolean;
  /** The parameter that is the whole body. Absent: the body has all parameters by name. */
  readonly body?: string;
  /** The field that is the whole answer. Absent: the answer has all fields by name. */
  readonly answer?: string;
  /** The entity that is missing (404) when the answer is an empty list. Absent: the empty list is answered. */
  readonly missing?: string;
}

/** Keeps the parameters' type while an operation is written down. */
export function defineOperation<Parameters extends TObject>(
  operation: OperationDefinition<Parameters>,
): OperationDefinition {
  return operation;
}

/** What a plan may look at. */
export interface PlanTools {
  readonly conferences: ConferenceStore;
  readonly rooms: ConferenceControl;
  readonly calls: CallStore;
  readonly dialogs: DialogPort;
  /** What tells before it is done whether recordings and recognition of a call can be changed. */
  readonly runServices: RunServices;
  /** The scenario that people of a domain reach by this code. */
  scenario(code: string, domain: DomainName): Promise<Program | undefined>;
  /** The script of this code that cannot be served: how many mistakes it has, and where they can be read. */
  unservedScript?(
    code: string,
    domain: DomainName,
  ): Promise<{ readonly mistakes: number; readonly see: string } | undefined>;
  /** Why no further call may begin, when that is so. */
  readonly overload?: () => { readonly reason: string; readonly retryAfterSeconds: number } | undefined;
  /** Where a call would go; absent where that is not known. */
  readonly previewCall?: CallPreviews;
  readonly directory: Pick<
    Directory,
    'sipUsersOfUser' | 'sipUserByNumber' | 'sipUserByLogin' | 'sipUserById' | 'route' | 'featureCode'
  >;
}

export interface PlanRequest<Parameters> {
  readonly scope: DialogScope;
  /** Checked by the schema; what was not given is absent. */
  readonly parameters: Parameters;
  /** The dialogs that are meant, oldest first: none, one or at least one, as the target says. */
  readonly dialogids: readonly string[];
  /** The conference, which the caller may see; empty where the target is none. */
  readonly confid: string;
  /** As the caller named it; empty where the target is no participant. */
  readonly participantid: string;
}

/** A dialog that an operation would touch, and the legs of it, as `dry_run` shows them. */
export interface Touched {
  readonly dialogid: string;
  readonly legs: readonly Pick<LiveLeg, 'callid' | 'side' | 'uris'>[];
}

/** A call that an operation would make, as `dry_run` shows it. */
export type PlannedCall = Omit<CallPreview, 'contacts' | 'ownNumber'> & {
  /** The party that would be called, e.g. `X`. */
  readonly party: string;
  /** Absent where the caller must not see them. */
  readonly contacts?: readonly string[];
};

export interface OperationPlan {
  readonly touches: readonly Touched[];
  /** The calls that it would make, for `dry_run`. */
  readonly calls?: readonly PlannedCall[];
  /** Arguments of the scenario. Without a `progress`, what the scenario returns is the answer. */
  readonly args?: Readonly<Record<string, Value>>;
  readonly responseMode?: number;
  /** Makes the answer out of the scenario's milestones. */
  readonly progress?: (start: { readonly ivrcallid: string }) => Progress;
  /** Does what an operation without a scenario does, and gives the answer. @throws OperationError */
  readonly perform?: () => Value | Promise<Value>;
}

/** Follows a scenario until its caller can be answered, and to its end. */
export interface Progress {
  report(report: Report): void;
  /** Undefined while it is too early. After the milestone `finished` there is an answer. */
  answer(): Readonly<Record<string, Value>> | undefined;
  /** How it ended: what the operation's last response mode answers. Asked after the milestone `finished`. */
  final(): Readonly<Record<string, Value>>;
}

/** The dialog with all its legs, as a plan tells that it touches it. */
export function touched(dialogs: DialogPort, domain: DomainName, dialogid: string): Touched {
  const legs = dialogs.find(domain, dialogid)?.legs ?? [];
  return { dialogid, legs: legs.map(({ callid, side, uris }) => ({ callid, side, uris })) };
}

/**
 * A previewed call as a plan tells it.
 * @param party e.g. `X`
 * @param withContacts false: the caller must not see where the phones are
 */
export function plannedCall(party: string, preview: CallPreview, withContacts = true): PlannedCall {
  const { contacts, ownNumber: _ownNumber, ...told } = preview;
  return { party, ...told, ...(withContacts && { contacts }) };
}
