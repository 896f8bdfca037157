import { OPERATIONS, playTable } from './table.ts';

describe('response of operations for every behaviour of the parties', () => {
  playTable(OPERATIONS);
});
