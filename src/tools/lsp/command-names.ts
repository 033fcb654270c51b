// What an editor may have carried out by the server, by the names under which lines above a text name it.

export const commandNames = {
  runCase: 'writ.runCase',
  showWitness: 'writ.showWitness',
  showChanges: 'writ.showChanges',
  hideChanges: 'writ.hideChanges',
  explainLogged: 'writ.explainLogged',
  // For views that list what can be run; these show no message.
  listCases: 'writ.listCases',
  listClaims: 'writ.listClaims',
  proveClaim: 'writ.proveClaim',
  tryRequest: 'writ.tryRequest',
  runCaseQuietly: 'writ.runCaseQuietly',
} as const;
