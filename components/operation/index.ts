export type { ConferenceControl } from './conference-control.ts';
export {
  AddParticipantParameters,
  type ConferenceChange,
  ConferenceLookup,
  conferenceOperations,
  type ConferenceOperations,
  TopologyCommands,
} from './conferences.ts';
export { DialogRecord } from './dialog-record.ts';
export type { OperationDefinition, Touched } from './definition.ts';
export { OperationError, type OperationProblem } from './errors.ts';
export { createOperations, type OperationRequest, type Operations, type StartedOperation } from './operations.ts';
export { InviteParameters } from './operations/invite.ts';
export { ParameterError } from './parameters.ts';
export { operationPort } from './port.ts';
export { type MilestoneRecord, type OperationRecord, RECORD_FIELDS } from './record.ts';
export type { OperationResponse, OperationResult, ResponseMode } from './response.ts';
export { type FinishedOperation, MissingScenarioError, type OperationHandle } from './runner.ts';
export { type Scope, withSelectors } from './target.ts';
