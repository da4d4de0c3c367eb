// Combined regression and ranking by sofia-ml, whose author is CRR's, with squared losses: prints seconds of
// training and the weights. PyPI's pysofia has the sources: g++ -O3 -fno-delete-null-pointer-checks
// -Ipysofia/src sofia_crr.cpp pysofia/src/*.cc. Without that flag it crashes. RANKVIZ_SOFIA names the program.
// Arguments: file, features, penalty, share of steps on pairs, steps.
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "sofia-ml-methods.h"

int main(int, char** argv) {
  SfDataSet data(argv[1], 40, true);
  const int features = std::atoi(argv[2]);
  SfWeightVector w(features + 1);
  const auto began = std::chrono::steady_clock::now();
  sofia_ml::StochasticClassificationAndRankLoop(data, sofia_ml::LMS_REGRESSION, sofia_ml::PEGASOS_ETA,
                                                std::atof(argv[3]), 0, std::atof(argv[4]), std::atoi(argv[5]), &w);
  std::printf("%.9f\n", std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count());
  for (int i = 1; i <= features; ++i) std::printf("%.9g\n", w.ValueOf(i));
}
