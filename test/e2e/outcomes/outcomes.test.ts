import { OPERATIONS, playTable } from './table.ts';

describe('what operations answer, whatever the parties do', () => {
  playTable(OPERATIONS);
});
