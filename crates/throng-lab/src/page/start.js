// Builds the interactive parts from the JSON that the page carries.

const json = document.getElementById("survey").textContent;
const survey = JSON.parse(json);

for (const place of document.querySelectorAll("figure.chart")) {
  chart(survey.needs[place.dataset.need], place, survey.layout.processors);
}

const heat = document.getElementById("heat");
if (heat && survey.calibration) heatMap(survey.calibration, heat);

rawTable(document.getElementById("raw"));

const download = document.getElementById("download");
download.href = URL.createObjectURL(new Blob([json], { type: "application/json" }));
download.hidden = false;
