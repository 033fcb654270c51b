// The names of the commands that an editor can run on the server; code lenses name them.

export const commandNames = {
  runCase: 'writ.runCase',
  showWitness: 'writ.showWitness',
  showChanges: 'writ.showChanges',
  hideChanges: 'writ.hideChanges',
  explainLogged: 'writ.explainLogged',
  // These commands serve views that list what can be run; they show no message.
  listCases: 'writ.listCases',
  listClaims: 'writ.listClaims',
  proveClaim: 'writ.proveClaim',
  tryRequest: 'writ.tryRequest',
  runCaseQuietly: 'writ.runCaseQuietly',
} as const;
