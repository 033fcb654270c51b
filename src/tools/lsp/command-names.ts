// What an editor may have carried out by the server, by the names under which lines above a text name it.

export const commandNames = {
  runCase: 'writ.runCase',
  showWitness: 'writ.showWitness',
  showChanges: 'writ.showChanges',
  hideChanges: 'writ.hideChanges',
  explainLogged: 'writ.explainLogged',
} as const;
