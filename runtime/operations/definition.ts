/** The definition of an operation, and its plan. */
import type { Static, TObject, TSchema } from 'typebox';
import type { DomainName } from '../domain-name/index.ts';
import type { CallStore, ConferenceStore, DialogScope } from '../callstore/index.ts';
import type { Directory } from '../domain/index.ts';
import type { CallPreview, CallPreviews, DialogPort, LiveDialog, LiveLeg, Report, RunServices } from '../runs/index.ts';
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
  /** All parameters but those that name the target; see `settingsOf`. */
  readonly parameters: Parameters;
  readonly response: TSchema;
  /** Example settings of the component. They may lack the selector of the dialog. */
  readonly example: Readonly<Record<string, Value>>;
  /**
   * The target, which the path of a request or its parameters name.
   * - `none`: nothing
   * - `dialog`: exactly one dialog
   * - `dialogs`: every dialog that the selector matches
   * - `found`: the same, but the operation only finds them, so no path names one
   * - `conference`: one conference
   * - `participant`: one conference and one of its participants
   */
  readonly target: 'none' | 'dialog' | 'dialogs' | 'found' | 'conference' | 'participant';
  /** Its place in the REST service. Absent: for scenarios only; REST callers read the same by GET. */
  readonly http?: CallMethod | ConferenceRoute;
  /** True: it rings a phone, which a repeat with the same Idempotency-Key must not ring again. */
  readonly startsCall: boolean;
  /** Id of its hidden scenario in `scenarios/service`; absent when `perform` of its plan does the work. */
  readonly scenario?: string;
  /**
   * Makes the checks of this operation, and plans its work. It changes nothing, as a `dry_run` ends with the plan.
   * @throws ParameterError, OperationError
   */
  plan(tools: PlanTools, request: PlanRequest<Static<Parameters>>): OperationPlan | Promise<OperationPlan>;
}

/** A method of its own: `POST /uc/calls!refer` with a selector in the body, `POST /uc/calls/ID!refer`. */
export interface CallMethod {
  readonly on: 'calls';
  /** `domain`: on /uc/calls. `own`: on /user/sip/calls. */
  readonly paths: readonly ('domain' | 'own')[];
  /** The standard HTTP method that does the same. */
  readonly verb?: 'POST' | 'DELETE';
}

/** A request below /uc/conferences and /uc/conferences_by_participation. */
export interface ConferenceRoute {
  readonly on: 'conferences';
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** With `{confid}` and `{participantid}` where the target has them, e.g. `/{confid}/topology`. */
  readonly path: string;
  /** True: it takes `dry_run`. */
  readonly dryRun?: boolean;
  /** The parameter that is the whole body. Absent: the body has all parameters by name. */
  readonly body?: string;
  /** The field that is the whole answer. Absent: the answer has all fields by name. */
  readonly answer?: string;
  /** The entity that is missing (404) when the answer is an empty list. Absent: the empty list is answered. */
  readonly missing?: string;
}

/** Checks an operation's `plan` against the type of its own parameters. */
export function defineOperation<Parameters extends TObject>(
  operation: OperationDefinition<Parameters>,
): OperationDefinition {
  return operation;
}

/** The services that a plan may use. */
export interface PlanTools {
  readonly conferences: ConferenceStore;
  readonly rooms: ConferenceControl;
  readonly calls: CallStore;
  readonly dialogs: DialogPort;
  /** A dialog of another node; absent on a single node. */
  readonly dialogElsewhere?: (
    domain: DomainName,
    dialogid: string,
  ) => Promise<Pick<LiveDialog, 'dialogid' | 'status' | 'legs'> | undefined>;
  /** Checks in advance whether recordings and recognition of a call can be changed. */
  readonly runServices: RunServices;
  /** The scenario with this code in the domain. */
  scenario(code: string, domain: DomainName): Promise<Program | undefined>;
  /** The script with this code that is not served: the number of its mistakes, and where to read it. */
  unservedScript?(
    code: string,
    domain: DomainName,
  ): Promise<{ readonly mistakes: number; readonly see: string; readonly isModule: boolean } | undefined>;
  /** The limit that refuses new calls of a domain now, if any. */
  readonly overload?: (
    domain: DomainName,
  ) => { readonly reason: string; readonly retryAfterSeconds: number } | undefined;
  /** Previews the route of a call; absent without a switch. */
  readonly previewCall?: CallPreviews;
  readonly directory: Pick<
    Directory,
    'sipUsersOfUser' | 'sipUserByNumber' | 'sipUserByLogin' | 'sipUserById' | 'route' | 'featureCode'
  >;
}

export interface PlanRequest<Parameters> {
  readonly scope: DialogScope;
  /** Checked by the schema; parameters that were not given are absent. */
  readonly parameters: Parameters;
  /** The target dialogs, oldest first: none, one, or at least one, by the kind of target. */
  readonly dialogids: readonly string[];
  /** The target conference, which the caller may see; empty for another kind of target. */
  readonly confid: string;
  /** The target participant as the caller named it, unchecked; empty for another kind of target. */
  readonly participantid: string;
}

/** A dialog that an operation would change, with the legs concerned, as `dry_run` shows them. */
export interface Touched {
  readonly dialogid: string;
  readonly legs: readonly Pick<LiveLeg, 'callid' | 'side' | 'uris'>[];
}

/** A call that an operation would make, as `dry_run` shows it. */
export type PlannedCall = Omit<CallPreview, 'contacts' | 'ownNumber'> & {
  /** The party that would be called, e.g. `X`. */
  readonly party: string;
  /** Absent when the caller must not see them. */
  readonly contacts?: readonly string[];
};

export interface OperationPlan {
  /** The dialogs that it would change or read. */
  readonly touches: () => readonly Touched[];
  /** The calls that the operation would make, for `dry_run`. */
  readonly calls?: readonly PlannedCall[];
  /** Arguments of the scenario. Without `progress`, the return value of the scenario is the answer. */
  readonly args?: Readonly<Record<string, Value>>;
  readonly responseMode?: number;
  /** Makes the answer from the scenario's milestones. */
  readonly progress?: (start: { readonly ivrcallid: string }) => Progress;
  /** Does the work of an operation without a scenario. @returns the answer @throws OperationError */
  readonly perform?: () => Value | Promise<Value>;
}

/** Follows a scenario until its caller can be answered, and to its end. */
export interface Progress {
  report(report: Report): void;
  /** The answer to the caller; undefined before the milestone of its response mode. Defined after `finished`. */
  answer(): Readonly<Record<string, Value>> | undefined;
  /** The answer of the operation's last response mode; called after the milestone `finished`. */
  final(): Readonly<Record<string, Value>>;
}

/** A dialog with all its legs, for the plan of an operation that changes it. */
export function touched(dialogs: DialogPort, domain: DomainName, dialogid: string): Touched {
  return touchedLegs(dialogid, dialogs.find(domain, dialogid)?.legs ?? []);
}

/** The same, of a dialog that may be at another node. */
export function touchedLegs(dialogid: string, legs: readonly LiveLeg[]): Touched {
  return { dialogid, legs: legs.map(({ callid, side, uris }) => ({ callid, side, uris })) };
}

/**
 * A previewed call, for the plan of an operation that makes it.
 * @param party e.g. `X`
 * @param withContacts false: the caller must not see where the phones are
 */
export function plannedCall(party: string, preview: CallPreview, withContacts = true): PlannedCall {
  const { contacts, ownNumber: _ownNumber, ...told } = preview;
  return { party, ...told, ...(withContacts && { contacts }) };
}
