// A solver whose time is known, coupled by preCICE: one process for each of its ranks.
//
//     precice_solver NAME CONFIG RANK RANKS SUBSTEPS SERIAL_S PARALLEL_S VERTICES
//
// A substep takes SERIAL_S + PARALLEL_S / RANKS seconds. The process sleeps that long, so that few cores can stand for
// many. Each rank has VERTICES / RANKS vertices of a line. The first rank prints the seconds of each time window.

#include <precice/precice.hpp>

#include <chrono>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

int main(int argc, char **argv)
{
  if (argc != 9) {
    std::fprintf(stderr, "usage: %s NAME CONFIG RANK RANKS SUBSTEPS SERIAL_S PARALLEL_S VERTICES\n", argv[0]);
    return 2;
  }
  using clock = std::chrono::steady_clock;
  const std::string name = argv[1], mesh = name + "-Mesh";
  const bool fluid = name == "Fluid";
  const std::string writes = fluid ? "Force" : "Displacement", reads = fluid ? "Displacement" : "Force";
  const int rank = std::stoi(argv[3]), ranks = std::stoi(argv[4]), substeps = std::stoi(argv[5]);
  const std::chrono::duration<double> work(std::stod(argv[6]) + std::stod(argv[7]) / ranks);
  const int vertices = std::stoi(argv[8]), first = vertices * rank / ranks, last = vertices * (rank + 1) / ranks;

  precice::Participant participant(name, argv[2], rank, ranks);
  std::vector<double> places;
  for (int i = first; i < last; ++i) {
    // The two meshes don't match, so that data are really mapped.
    places.push_back(i + (fluid ? 0.0 : 0.3));
    places.push_back(0.0);
  }
  std::vector<precice::VertexID> ids(last - first);
  participant.setMeshVertices(mesh, places, ids);
  std::vector<double> read(places.size()), written(places.size(), 1.0);
  participant.initialize();

  int step = 0;
  double done = 0.0, kept = 0.0, moved = 1.0;
  auto began = clock::now();
  while (participant.isCouplingOngoing()) {
    if (participant.requiresWritingCheckpoint()) {
      kept = done;
    }
    const double dt = std::min(participant.getMaxTimeStepSize(), 1.0 / substeps);
    participant.readData(mesh, reads, ids, dt, read);
    std::this_thread::sleep_for(work);
    // Values that change by a fixed factor never converge, so all iterations that are allowed are made.
    moved *= 1.1;
    for (double &value : written) {
      value = moved;
    }
    participant.writeData(mesh, writes, ids, written);
    participant.advance(dt);
    done += dt;
    if (participant.requiresReadingCheckpoint()) {
      done = kept;
    } else if (participant.isTimeWindowComplete()) {
      const auto now = clock::now();
      if (rank == 0) {
        std::printf("window %d %.6f\n", step, std::chrono::duration<double>(now - began).count());
      }
      began = now;
      ++step;
    }
  }
  participant.finalize();
  return 0;
}
